"""What every floor above may use: suggestions, safe writing of files, quantities, safe text."""

from common.files import atomic_write
from common.printable import printable
from common.suggest import suggest
from common.units import engineering

__all__ = ["atomic_write", "engineering", "printable", "suggest"]
