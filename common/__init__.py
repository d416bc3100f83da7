"""What every floor above may use: suggestions for misspelt names, safe writing of files, units."""

from common.files import atomic_write
from common.suggest import suggest

__all__ = ["atomic_write", "suggest"]
