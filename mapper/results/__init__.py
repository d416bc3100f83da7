"""Results: a found mapping as files, and whether stored answers hold when evaluated again."""
