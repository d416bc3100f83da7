"""What the machine does to a command: streams that are closed, full or narrow."""

from tests.hostile.rows import Row

ROWS = [
    Row(
        "python -m mapper layers",
        "layers.py stands before the package 'layers'.*Rename that file",
        files={"layers.py": "x = 1"},
        process=True,
    ),
    Row("mapper layers >&-", "standard output is closed", code=1, process=True),
    Row("mapper layers > /dev/full", "No space left on device", code=1, process=True),
    Row("mpe-marl train --help >&-", "standard output is closed", code=1, process=True),
]
