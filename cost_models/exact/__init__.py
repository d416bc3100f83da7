"""The exact model: counts that equal an execution of the loop nest."""
