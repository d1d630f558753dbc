"""An option that one model has and others have not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kernelcast.errors import KernelcastError

__all__ = ["ModelOption"]

Value = TypeVar("Value", bound=int | float | str)

_KIND_NAMES: dict[type, str] = {int: "a whole number", float: "a number", str: "a text"}


def _fine(_value: object) -> str:
    return ""


@dataclass(frozen=True)
class ModelOption(Generic[Value]):
    """`name` as Python spells it: `computation_proportion` is `--computation-proportion` too.

    `help` says in a sentence or two what it is, and what holds without it. `refusal` says why a
    value of the right kind is wrong, nothing where it is not.
    """

    name: str
    kind: type[Value]
    help: str
    refusal: Callable[[Value], str] = _fine
    symbol: str = ""
    """What the paper calls it."""

    def read(self, given: Any) -> Value:
        """Reads a value of Python's or a text of the command line.

        Raises KernelcastError, in one line, for what is of another kind or is refused.
        """
        try:
            value = self.kind(given)
            if isinstance(given, bool) or (self.kind is int and value != self.kind(str(given))):
                raise ValueError
        except (OverflowError, TypeError, ValueError):
            kind = _KIND_NAMES[self.kind]
            raise KernelcastError(f"{self.name} is {kind}, got {given!r}") from None
        refusal = self.refusal(value)
        if refusal:
            raise KernelcastError(refusal)
        return value
