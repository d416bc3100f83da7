"""What an answer means: its distance from the optimum, how it evolved, and what changes cost."""
