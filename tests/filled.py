"""A value of any model with one text wherever it takes one, fields that are still to come included."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from bridge.model.values import Model

M = TypeVar("M", bound=Model)


def filled(model: type[M], text: str, **given: Any) -> M:
    """A value of ``model`` in which every text is ``text``, and of many things there is one.

    Args:
        model: The model.
        text: What stands in every field that takes a text, keys included.
        given: Fields of the outermost value that are to be something else.
    """
    own = {
        name: _value(field.annotation, text)
        for name, field in model.model_fields.items()
        if name not in given
    }
    return model.model_validate({**own, **given})


def _value(kind: Any, text: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated or (origin is None and hasattr(kind, "__metadata__")):
        return _value(inner[0], text)
    if origin in (Union, types.UnionType):
        return _value(next(each for each in inner if each is not type(None)), text)
    if origin is Literal:
        return inner[-1]
    if origin is tuple:
        parts = inner[:1] if inner[-1] is Ellipsis else inner
        return tuple(_value(each, text) for each in parts)
    if origin is not None and issubclass(origin, Mapping):
        return {_value(inner[0], text): _value(inner[1], text)}
    return _plain(kind, text)


def _plain(kind: Any, text: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Model):
        return filled(kind, text)
    if kind in (str, Any):
        return text
    return {bool: False, int: 1, float: 0.01}[kind]
