"""One launch that is to be tuned, and what is predicted of it with a configuration."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelcast.errors import InputError
from kernelcast.inputs.triton_kernel import TritonKernel
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import Occupancy
from kernelcast.triton_calls.session import errors_of_triton, function_of, launches_on

__all__ = ["Prediction", "Trial", "packed_trial", "unpacked_trial"]


@dataclass(frozen=True)
class Prediction:
    """What is predicted with one configuration; `shared_bytes` per thread block."""

    estimate: Estimate
    occupancy: Occupancy
    shared_bytes: int

    @property
    def time_s(self) -> float:
        """The predicted time of one launch."""
        return self.estimate.time_s


@dataclass(frozen=True)
class Trial:
    """A launch `function[grid](*args, **constants)` whose configuration is to be found.

    `model` None: the usual one.
    """

    function: Any
    args: Sequence[Any]
    constants: Mapping[str, Any]
    device: Device
    model: str | None = None

    @property
    def name(self) -> str:
        """The kernel's name."""
        name: str = function_of(self.function).__name__
        return name

    def grid_of(self, grid: Any, config: Any) -> tuple[int, ...]:
        """The programs that a configuration is launched with."""
        if not callable(grid):
            return (grid,) if isinstance(grid, int) else tuple(grid)
        known = {**self._named(), **self.constants, **config.all_kwargs()}
        for name, value in getattr(self.function, "values", {}).items():
            known[name] = value(dict(known))
        return tuple(grid(known))

    def predicted(self, grid: Any, config: Any, *, quickly: bool) -> Prediction:
        """The prediction with one configuration: by the model, or `quickly` from a sketch.

        LaunchError when it does not fit the device, or cannot be sketched.
        """
        keywords = {**self.constants, **config.all_kwargs()}
        if config.pre_hook is not None:
            config.pre_hook({**self._named(), **keywords})
        with (
            launches_on(self.device, model=self.model) as session,
            errors_of_triton(self.function),
            session.predicting(quickly=quickly) as calls,
        ):
            session.run(self.function, grid, self.args, keywords)
        call = calls[-1]
        profile, estimate = call.profiles[self.device.name], call.estimate
        assert profile.occupancy is not None, "an executed launch has one"
        kernel = call.kernels[self.device.name]
        assert isinstance(kernel, TritonKernel), "Triton has compiled it"
        return Prediction(estimate, profile.occupancy, kernel.shared_bytes)

    def _named(self) -> dict[str, Any]:
        return dict(zip(function_of(self.function).arg_names, self.args, strict=False))


@dataclass(frozen=True)
class _Place:
    """Where a process that imports its module finds a function: `steps` decorators within."""

    module: str
    file: str
    name: str
    steps: int


def packed_trial(trial: Trial) -> bytes | None:
    """The trial for another process; None when that could not find the function again.

    Nor does it where arrays would lose that they are views.
    """
    place = _place_of(trial.function)
    if place is None or not all(map(_is_whole, trial.args)):
        return None
    try:
        return pickle.dumps((place, replace(trial, function=None)))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def unpacked_trial(content: bytes) -> Trial:
    """The trial of `packed_trial`, with its function imported."""
    place: _Place
    trial: Trial
    place, trial = pickle.loads(content)
    function = getattr(_imported(place.module, place.file), place.name)
    for _ in range(place.steps):
        function = function.fn
    return replace(trial, function=function)


def _place_of(function: Any) -> _Place | None:
    inner = function_of(function).fn
    module = sys.modules.get(inner.__module__)
    file = getattr(module, "__file__", None)
    found: Any = getattr(module, inner.__name__, None)
    steps = 0
    while found is not function and hasattr(found, "fn"):
        found, steps = found.fn, steps + 1
    if found is not function or file is None or inner.__module__ == "__main__":
        return None
    return _Place(inner.__module__, file, inner.__name__, steps)


def _imported(name: str, file: str) -> Any:
    module = sys.modules.get(name)
    if getattr(module, "__file__", None) == file:
        return module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} is no module of Python")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_whole(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_whole, value))
    return not isinstance(value, np.ndarray) or (value.base is None and value.flags.c_contiguous)
