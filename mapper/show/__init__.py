"""What the command line shows: tables, the loop nest, progress. Standard output holds results."""
