"""Keyword arguments that stand for the fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from kernelcast.errors import nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_keywords"]


def check_keywords(
    function: Callable[..., Any],
    keywords: Mapping[str, object],
    kind: type[DataclassInstance],
) -> None:
    """Checks that each of `keywords` that `function` was given is a field of the dataclass `kind`.

    Raises TypeError, as Python does, with the nearest names.
    """
    known = [field.name for field in fields(kind)]
    for name in keywords:
        if name not in known:
            own = inspect.signature(function).parameters.values()
            others = [item.name for item in own if item.kind is not inspect.Parameter.VAR_KEYWORD]
            hint = nearest(name, [*others, *known])
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}"
            )
