"""Performance models: KernelProfile x Device -> Estimate. One folder each, one line here.

`model` says what a model is, `estimate` what it returns. A model imports `simcore` and no other
model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points

from kernelcast.errors import UnknownModel, nearest
from kernelcast.models.component_throughput.model import component_throughput
from kernelcast.models.interval.model import interval
from kernelcast.models.model import Model, ModelOptions, check_variant
from kernelcast.models.mpd_cpd.model import mpd_cpd
from kernelcast.models.quantitative_roofline.equations import utilization_factor
from kernelcast.models.quantitative_roofline.model import quantitative_roofline
from kernelcast.models.roofline.model import roofline
from kernelcast.models.warpspeed.model import warpspeed

__all__ = [
    "MODELS",
    "Model",
    "ModelOptions",
    "check_variant",
    "get_model",
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


class _Registry(Mapping[str, Model]):
    """The built-in models, then those of installed packages, which are imported when asked for.

    An installed package cannot replace a built-in model.
    """

    def _installed(self) -> dict[str, EntryPoint]:
        found = entry_points(group=ENTRY_POINT_GROUP)
        return {point.name: point for point in found if point.name not in _BUILT_IN}

    def __getitem__(self, name: str) -> Model:
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        model: Model = self._installed()[name].load()
        return model

    def __iter__(self) -> Iterator[str]:
        yield from _BUILT_IN
        yield from self._installed()

    def __len__(self) -> int:
        return len(_BUILT_IN) + len(self._installed())


MODELS: Mapping[str, Model] = _Registry()


def get_model(name: str) -> Model:
    """Raises UnknownModel, with the nearest names, when there is no such model."""
    try:
        return MODELS[name]
    except KeyError:
        known = ", ".join(MODELS)
        raise UnknownModel(f"no model {name!r}{nearest(name, MODELS)}; known are {known}") from None


def needs_paths(name: str) -> bool:
    """Whether the model looks at the paths of warps: an execution must record them for it.

    A model says so by an attribute `needs_paths`. UnknownModel as `get_model`.
    """
    return bool(getattr(get_model(name), "needs_paths", False))


def variants(name: str) -> tuple[str, ...]:
    """The model's other readings, by the names that ModelOptions.variant takes.

    A model says so by an attribute `variants`. UnknownModel as `get_model`.
    """
    return tuple(getattr(get_model(name), "variants", ()))
