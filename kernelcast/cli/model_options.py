"""The options that one model has and others have not, as options of the command line."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import typer

from kernelcast.cli.options import assignments
from kernelcast.errors import KernelcastError
from kernelcast.models import built_in_options

__all__ = ["OwnOptions"]

_ANY = "model_option"
AnyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="An option that only one model has, as an installed one may; may be repeated.",
        metavar="NAME=VALUE",
    ),
]


@dataclass(frozen=True)
class OwnOptions:
    """Values of options that only one model has, by name, as far as they are given."""

    values: Mapping[str, float | str] = field(default_factory=dict)

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """One for each option of the models that come with kernelcast, one for all others."""
        kinds = {
            option.name: Annotated[
                option.kind | None, typer.Option(help=option.help, metavar=option.symbol or None)
            ]
            for option in built_in_options()
        }
        return [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in ({**kinds, _ANY: AnyOption}).items()
        ]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> OwnOptions:
        """Collects the options from the values of `parameters`.

        Raises KernelcastError for what is no NAME=VALUE and an option that is given in both ways.
        """
        named = {name: value for name, value in given.items() if name != _ANY and value is not None}
        for name, text in assignments(given[_ANY] or (), "--model-option").items():
            option = name.replace("-", "_")
            if option in named:
                raise KernelcastError(f"--model-option: {option} is given twice")
            named[option] = text
        return cls(named)
