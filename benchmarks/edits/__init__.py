"""Random edits of the files that the project reads, and oracles of what is true of them."""
