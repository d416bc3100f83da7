"""Writing to the database: one transaction at a time, tried again where that helps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from marl_runs.store.errors import StoreError, StoreFault
from marl_runs.store.query import Reader

Result = TypeVar("Result")
ATTEMPTS = 5
"""How often a write is tried when the database says that it is locked or went away."""
HOPELESS = ("full", "readonly", "disk I/O")
"""Words of errors that do not pass by waiting."""


class Writer(Reader):
    """A reader that can write, too."""

    def write(self, action: Callable[[Connection], Result]) -> Result:
        """Do `action` in one transaction; again when the database was locked or went away."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with (
                    self.engine.connect().execution_options(write=True) as connection,
                    connection.begin(),
                ):
                    return action(connection)
            except OperationalError as error:
                hopeless = any(word in str(error.orig) for word in HOPELESS)
                if attempt == ATTEMPTS or hopeless:
                    raise _failure(error) from error
                time.sleep(0.05 * 2**attempt)
            except IntegrityError:
                raise
            except DBAPIError as error:
                raise _failure(error) from error
        raise AssertionError("unreachable")


def _failure(error: DBAPIError) -> Exception:
    """What a write failed of: a store that may not be written to, or a fault of its place."""
    kind = StoreError if "readonly" in str(error.orig) else StoreFault
    return kind(f"store: cannot write: {error.orig}")
