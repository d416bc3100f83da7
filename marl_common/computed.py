"""Values that are worked out when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Self


class Computed:
    """Base of frozen dataclasses whose fields may be worked out on first use.

    A field must not have a plain default (`field(default_factory=...)` serves), which as an
    attribute of the class would stand in for what is not worked out yet. Copies and pickles are
    whole.
    """

    @classmethod
    def later(cls, find: Callable[[str], Mapping[str, Any]], **known: Any) -> Self:
        """A value some of whose fields are not worked out yet.

        Args:
            find: Works out the field of a name, and others with it where that is no more work.
            known: The fields that are known.
        """
        value = object.__new__(cls)
        value.__dict__.update(known, _find=find)
        return value

    def __getattr__(self, name: str) -> Any:
        find = self.__dict__.get("_find")
        if find is None or name not in type(self).__dataclass_fields__:  # type: ignore[attr-defined]
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        self.__dict__.update(find(name))  # with another `_find`, where a part is left for later
        return getattr(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, item.name) for item in fields(self))  # type: ignore[arg-type]
