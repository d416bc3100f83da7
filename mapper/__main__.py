"""``python -m mapper`` is ``mapper``."""

from mapper.cli import main

main()
