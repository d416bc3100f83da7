"""Training of the mapping policies: random layers on random chips, whatever the user will bring."""
