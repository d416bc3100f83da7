"""Where the commands begin: Ctrl-C while Python imports them is one line, as it is later."""

import sys
from collections.abc import Callable


def _starting(package: str) -> Callable[[], None]:
    """What starts a package's command line; outside all packages, whose imports take a moment."""

    def start() -> None:
        try:
            from importlib import import_module

            import_module(f"{package}.cli").main()
        except KeyboardInterrupt:
            print("error: stopped by Ctrl-C", file=sys.stderr)
            sys.exit(130)

    return start


mapper, mpe_marl, mast, mst = map(_starting, ("mapper", "mpe_marl", "mast", "mst"))
