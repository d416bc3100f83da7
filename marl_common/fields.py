"""Fields of a user's file, checked by pydantic, with messages that name the field and the fix.

A model's fields are plain annotations; :func:`expected` attaches to a type what a person reads when
a value does not fit. pydantic takes a tenth of a second to import: import this module, and those
that define models, where a file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

from marl_common.plain_text import brief
from marl_common.spelling import suggest

Model = TypeVar("Model", bound=BaseModel)

HIDDEN = "-"
"""Tags of unions that begin so are left out of a field's path."""


def expected(text: str) -> Any:
    """Annotation: what a message says was expected where a value does not fit.

    ``Annotated[int, Field(ge=1, strict=True), expected("a whole number of at least 1")]``
    """

    def check(value: Any, inner: Any) -> Any:
        try:
            return inner(value)
        except ValidationError:
            # the message is a template
            raise PydanticCustomError("expected", "{text}", {"text": text}) from None

    return WrapValidator(check)


Text = Annotated[str, Field(strict=True, max_length=5000), expected("a text")]
Count = Annotated[
    int, Field(ge=0, le=1 << 62, strict=True), expected("a whole number of at least 0")
]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True), expected("a finite number")]
NotNegative = Annotated[
    float, Field(ge=0, allow_inf_nan=False, strict=True), expected("a number of at least 0")
]
Positive = Annotated[
    float, Field(gt=0, allow_inf_nan=False, strict=True), expected("a number above 0")
]


def read_fields(
    model: type[Model], data: Any, where: str, error: type[ValueError], what: str = "fields"
) -> Model:
    """Check the fields of a file.

    Args:
        model: The pydantic model of the file.
        data: What the file holds.
        where: Start of every message, such as the file's path.
        error: Raised where the data do not fit.
        what: What the file should hold, in messages.

    Raises:
        error: Names `where`, the field's path, what it holds, and what was expected.
    """
    if not isinstance(data, Mapping):
        known = ", ".join(field_names(model))
        raise error(f"{where}: expected the {what} {known}, got {brief(data)}")
    try:
        return model.model_validate(dict(data))
    except ValidationError as problem:
        # a misspelt field is often missing under its right name: the misspelling says more
        errors = sorted(problem.errors(), key=lambda item: item["type"] != "extra_forbidden")
        missing = [item["loc"] for item in errors if item["type"] == "missing"]
        text = _message(model, errors[0])
        if errors[0]["type"] == "missing" and len(missing) > 1:
            paths = [[str(part) for part in path] for path in missing]
            text = "missing " + ", ".join(
                f"{'.'.join(path)} ({_described(model, path)})" for path in paths
            )
        raise error(f"{where}: {text}") from None


def field_names(model: type[BaseModel]) -> list[str]:
    """The names of a model's fields as a file gives them."""
    return [item.alias or name for name, item in model.model_fields.items()]


def _message(model: type[BaseModel], problem: Any) -> str:
    path = [str(part) for part in problem["loc"] if not str(part).startswith(HIDDEN)]
    kind, value = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        known = field_names(_model_at(model, path[:-1]))
        inside = f"{'.'.join(path[:-1])}: " if path[:-1] else ""
        hint = suggest(path[-1], known)
        return f"{inside}unknown field {path[-1]!r}; expected {', '.join(known)}.{hint}"
    if kind == "missing":
        return f"{'.'.join(path)} missing; give {_described(model, path)}"
    text = problem["msg"]
    if kind == "expected":
        text = f"got {brief(value)}, expected {text}"
        if isinstance(value, str):
            hint = suggest(value, (word.strip(",.") for word in problem["msg"].split()))
            text += f".{hint}" if hint else ""
    elif kind in ("model_type", "model_attributes_type", "dict_type"):
        known = field_names(_model_at(model, path))
        text = f"got {brief(value)}, expected the fields {', '.join(known)}"
    elif kind != "contradiction":
        text = f"got {brief(value)}: {text}"
    return f"{'.'.join(path)}: {text}" if path else text


def _model_at(model: type[BaseModel], path: list[str]) -> type[BaseModel]:
    """The model of a nested field."""
    for name in path:
        fields = {item.alias or key: item for key, item in model.model_fields.items()}
        if name in fields:  # places in lists and names of free members lead no further
            model = _model_in(fields[name].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation names, inside `Annotated` and unions too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(part) for part in get_args(annotation))
    return next((part for part in found if part is not None), None)


def _described(model: type[BaseModel], path: list[str]) -> str:
    item = _model_at(model, path[:-1]).model_fields.get(path[-1])
    described = None if item is None else item.description
    return described or "it"
