"""What is known of a performance model without running it: the words of its own module."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass

from kernelcast.models import MODELS, get_model

__all__ = ["ModelDescription", "describe_model", "describe_models"]


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """`summary` is the first line, `text` the whole documentation of the model's module."""

    name: str
    summary: str
    text: str


def describe_model(name: str) -> ModelDescription:
    """Raises UnknownModel, with the nearest names, when there is no such model."""
    module = sys.modules.get(getattr(get_model(name), "__module__", ""))
    text = inspect.cleandoc((module and module.__doc__) or "no description")
    summary = text.splitlines()[0].removeprefix(f"Model `{name}`: ")
    return ModelDescription(name, summary, text)


def describe_models() -> tuple[ModelDescription, ...]:
    """The descriptions of all models, in the order of the registry."""
    return tuple(describe_model(name) for name in MODELS)
