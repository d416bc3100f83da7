"""Other tools' inputs: an accelerator, a layer and a mapping as their files."""
