"""Other tools' mappers on the same problems as ours."""
