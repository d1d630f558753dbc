"""Performance models: KernelProfile x Device -> Estimate. One folder each, one line here.

`model` says what a model is and declares, `estimate` what it returns. A model imports `simcore` and
no other model.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from kernelcast.errors import ModelNotApplicable, UnknownModel, nearest
from kernelcast.models.component_throughput.model import component_throughput
from kernelcast.models.interval.model import interval
from kernelcast.models.model import Model, ModelOptions, Recording, check_variant, declaration
from kernelcast.models.mpd_cpd.model import mpd_cpd
from kernelcast.models.option import ModelOption
from kernelcast.models.quantitative_roofline.equations import utilization_factor
from kernelcast.models.quantitative_roofline.model import quantitative_roofline
from kernelcast.models.roofline.model import roofline
from kernelcast.models.warpspeed.model import warpspeed
from kernelcast.simcore.device.section import Section

__all__ = [
    "MODELS",
    "SECTIONS",
    "Model",
    "ModelOptions",
    "built_in_options",
    "built_in_variants",
    "check_options",
    "check_variant",
    "get_model",
    "is_built_in",
    "model_options",
    "needs_paths",
    "utilization_factor",
    "variants",
]

ENTRY_POINT_GROUP = "kernelcast.models"

_BUILT_IN: Mapping[str, Model] = {
    "quantitative-roofline": quantitative_roofline,
    "roofline": roofline,
    "interval": interval,
    "component-throughput": component_throughput,
    "mpd-cpd": mpd_cpd,
    "warpspeed": warpspeed,
}


@cache
def _installed(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """What packages on that `sys.path` declare; looking through all of them takes 20 ms."""
    found = entry_points(group=ENTRY_POINT_GROUP)
    return {point.name: point for point in found if point.name not in _BUILT_IN}


class _Registry(Mapping[str, Model]):
    """The built-in models, then those of installed packages, which are imported when asked for.

    An installed package cannot replace a built-in model. UnknownModel for one that cannot be
    imported.
    """

    def __getitem__(self, name: str) -> Model:
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        point = _installed(tuple(sys.path))[name]
        try:
            model: Model = point.load()
        except Exception as error:  # whatever a foreign package does when it is imported
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UnknownModel(
                f"model {name!r} is installed as {point.value} but cannot be imported: {reason}"
            ) from error
        return model

    def __iter__(self) -> Iterator[str]:
        yield from _BUILT_IN
        yield from _installed(tuple(sys.path))

    def __len__(self) -> int:
        return len(_BUILT_IN) + len(_installed(tuple(sys.path)))


MODELS: Mapping[str, Model] = _Registry()


class _Sections(Mapping[str, Section[Any]]):
    """Sections of device files that models declare, by name; of two of one name the first model's.

    Installed packages are imported when no built-in model has a section.
    """

    def _declared(self) -> Iterator[Section[Any]]:
        """UnknownModel, behind all others, where an installed model cannot be imported."""
        failures: list[UnknownModel] = []
        for name in MODELS:
            try:
                yield from declaration(MODELS[name]).sections
            except UnknownModel as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def __getitem__(self, name: str) -> Section[Any]:
        for section in self._declared():
            if section.name == name:
                return section
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(section.name for section in self._declared()))

    def __len__(self) -> int:
        return len(list(iter(self)))


SECTIONS: Mapping[str, Section[Any]] = _Sections()


def get_model(name: str) -> Model:
    """Raises UnknownModel, with the nearest names, when there is no such model."""
    if name not in tuple(MODELS):
        known = ", ".join(MODELS)
        raise UnknownModel(f"no model {name!r}{nearest(name, MODELS)}; known are {known}")
    return MODELS[name]


def is_built_in(name: str) -> bool:
    """Whether the model comes with kernelcast."""
    return name in _BUILT_IN


def needs_paths(name: str) -> bool:
    """Whether the model looks at the paths of warps: an execution must record them for it.

    UnknownModel as `get_model`.
    """
    return Recording.PATHS in declaration(get_model(name)).needs


def variants(name: str) -> tuple[str, ...]:
    """The model's other readings, by the names that ModelOptions.variant takes.

    UnknownModel as `get_model`.
    """
    return declaration(get_model(name)).variants


def model_options(name: str) -> dict[str, ModelOption[Any]]:
    """The options that the model has and others have not, by name. UnknownModel as `get_model`."""
    return {option.name: option for option in declaration(get_model(name)).options}


def built_in_variants() -> dict[str, tuple[str, ...]]:
    """The variants of the models that come with kernelcast and have some, by model."""
    found = {name: declaration(model).variants for name, model in _BUILT_IN.items()}
    return {name: readings for name, readings in found.items() if readings}


def built_in_options() -> tuple[ModelOption[Any], ...]:
    """The options of the models that come with kernelcast."""
    return tuple(option for model in _BUILT_IN.values() for option in declaration(model).options)


def check_options(names: Collection[str], own: Mapping[str, object]) -> None:
    """Raises ModelNotApplicable for an option that none of the models has.

    The message names those that they have. A value that its model refuses raises KernelcastError.
    """
    known: dict[str, ModelOption[Any]] = {}
    for name in names:
        known = {**model_options(name), **known}
    for name, value in own.items():
        if name not in known:
            of = "has" if len(names) == 1 else "have"
            there = f"; {of} {', '.join(known)}" if known else ""
            raise ModelNotApplicable(
                f"{' and '.join(names)} {of} no option {name!r}{nearest(name, known)}{there}"
            )
        known[name].read(value)
