"""``python -m mast``."""

from mast.cli import main

if __name__ == "__main__":
    main()
