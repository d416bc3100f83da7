"""Technology: data on memories and multipliers, and what follows from them (`parts`)."""
