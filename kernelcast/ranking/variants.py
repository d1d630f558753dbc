"""Ranks variants of a workload by predicted time: other defines, sizes and thread blocks.

`kc.tune_workload("gemm.toml", "a100-40gb", {"TILE": ["16", "32"], "block": ["16x16", "32x8"]})`.
Each variant is compiled by itself; a few of its thread blocks tell the order, and the model
estimates the first. Nothing is sent to a GPU.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeAlias

from kernelcast.api import estimate
from kernelcast.defaults import default_model, only_time
from kernelcast.errors import InputError, KernelcastError
from kernelcast.execution.run_options import RunOptions
from kernelcast.execution.sampling import Sampling
from kernelcast.models import needs_paths
from kernelcast.models.estimate import Estimate
from kernelcast.models.interval.model import NAME as INTERVAL
from kernelcast.notebook import Tabular
from kernelcast.progress import Progress
from kernelcast.ranking.execution import with_thread_block
from kernelcast.ranking.search import Search
from kernelcast.ranking.variations import Shape
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.units import format_seconds
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = [
    "TunedVariant",
    "VariantOptions",
    "VariantTuning",
    "split_variants",
    "tune_workload",
    "with_values",
]

_BLOCK = "block"
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\d+")
_SHAPE = re.compile(r"\d+(x\d+){0,2}")
_WITH_DEFINES = (".cu", ".cl", ".hip")

Values = Mapping[str, str]
_Outcome: TypeAlias = "TunedVariant | KernelcastError"


@dataclass(frozen=True, slots=True)
class VariantOptions:
    """How variants are predicted; `model` and `size` None: the usual ones.

    `run`: how each is executed that is estimated; `processes`: by default all in this one.
    The model estimates all variants if it is to be `exhaustive`, else those that `TuneOptions` says
    of `patience`; other models than `interval` always estimate all.
    """

    model: str | None = None
    size: str | None = None
    run: RunOptions = field(default_factory=partial(RunOptions, sampling=Sampling.AUTO))
    processes: int = 1
    patience: int = 0
    exhaustive: bool = True


@dataclass(frozen=True)
class TunedVariant:
    """A variant that fits the device; `registers` per thread."""

    configuration: Values
    estimate: Estimate
    registers: int | None

    @property
    def time_s(self) -> float:
        """The predicted time."""
        return self.estimate.time_s

    def as_dict(self) -> dict[str, Any]:
        """The variant and its figures, for JSON."""
        return {
            "configuration": dict(self.configuration),
            "time_s": self.time_s,
            "bottleneck": self.estimate.bottleneck,
            "registers": self.registers,
        }


@dataclass(frozen=True, repr=False)
class VariantTuning(Tabular):
    """Variants of a workload on a device, fastest first, and why others cannot be launched.

    `passed_over`: those that the model did not estimate, with what a few thread blocks tell.
    """

    workload: str
    device: str
    rows: tuple[TunedVariant, ...]
    refused: tuple[tuple[Values, str], ...]
    passed_over: tuple[TunedVariant, ...] = ()

    @property
    def label(self) -> str:
        """How many variants there are, and the time of the fastest."""
        best = f", fastest {format_seconds(self.rows[0].estimate.time_s)}" if self.rows else ""
        return f"tuning of {self.workload} on {self.device}: {len(self.rows)} variants{best}"

    def as_dict(self) -> dict[str, Any]:
        """The table for JSON."""
        return {
            "workload": self.workload,
            "device": self.device,
            "rows": [{"rank": rank, **row.as_dict()} for rank, row in enumerate(self.rows, 1)],
            "passed_over": [row.as_dict() for row in self.passed_over],
            "refused": [
                {"configuration": dict(values), "reason": reason} for values, reason in self.refused
            ],
        }


def split_variants(given: Iterable[str]) -> dict[str, list[str]]:
    """Values by name of texts such as `TILE=16,32,block=16x16,32x8`.

    InputError for what is no NAME=VALUE.
    """
    found: dict[str, list[str]] = {}
    for text in given:
        name = ""
        for piece in text.split(","):
            before, equals, value = (part.strip() for part in piece.rpartition("="))
            name = before if equals else name
            if not _NAME.fullmatch(name) or not value:
                raise InputError(f"--vary takes NAME=V1,V2,..., got {text!r}")
            found.setdefault(name, []).append(value)
    return found


def with_values(workload: Workload, values: Values, size: str | None = None) -> Workload:
    """The workload with other values: `block` is its thread block, all else a preprocessor define.

    A whole number takes the place of the size of that name as well, so that expressions for grid
    and arguments follow. InputError for a name that nothing depends on.
    """
    found = workload
    takes_defines = workload.kernel.source.suffix in _WITH_DEFINES
    for name, value in values.items():
        if name == _BLOCK:
            continue
        if not takes_defines and name not in workload.size(size):
            raise InputError(f"{workload.path}: nothing depends on {name!r}")
        if takes_defines:
            found = _with_define(found, name, value)
        if _NUMBER.fullmatch(value):
            sizes = found.sizes or {"default": {}}
            named = {key: {**given, name: int(value)} for key, given in sizes.items()}
            found = replace(found, sizes=named)
    if _BLOCK in values:
        found = with_thread_block(found, _shape(values[_BLOCK]), size)
    return found


def tune_workload(
    workload: Workload | str | os.PathLike[str],
    device: Device | str,
    vary: Mapping[str, Sequence[str]],
    options: VariantOptions | None = None,
    progress: Progress | None = None,
) -> VariantTuning:
    """All combinations of the values of `vary`, fastest first; `progress` is told the share done.

    KernelcastError when the workload cannot be read, or no variant can be compiled.
    """
    chosen = options or VariantOptions()
    read = workload if isinstance(workload, Workload) else load_workload(workload)
    target = load_device(device) if isinstance(device, str) else device
    variants = [
        dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())
    ]
    steps = _Steps(progress, len(variants) + (0 if chosen.exhaustive else chosen.patience + 1))

    def outcomes(numbers: Sequence[int], sketches: bool) -> Iterator[_Outcome]:
        outcome = partial(_outcome, read, target, chosen, sketches)
        return map(steps.done, _mapped(outcome, [variants[n] for n in numbers], chosen.processes))

    is_usual = (chosen.model or default_model(target)) == INTERVAL
    search: Search[TunedVariant] = Search(
        len(variants),
        outcomes,
        patience=chosen.patience,
        sketches=is_usual and not chosen.exhaustive,
    )
    return VariantTuning(
        str(read.path),
        target.name,
        tuple(search.found[n] for n in search.ranked),
        tuple((variants[n], str(error)) for n, error in search.errors.items()),
        tuple(search.quick[n] for n in search.passed_over),
    )


class _Steps:
    """Tells how much is done, of as many predictions as there will be about."""

    def __init__(self, progress: Progress | None, expected: int) -> None:
        self._progress = progress
        self._expected = expected
        self._count = 0

    def done(self, outcome: _Outcome) -> _Outcome:
        """One more."""
        self._count += 1
        if self._progress is not None:
            self._progress(min(1.0, self._count / self._expected))
        return outcome


def _shape(text: str) -> Shape:
    if not _SHAPE.fullmatch(text):
        raise InputError(f"block={text!r}: shapes are such as 256 and 16x16")
    x, y, z, *_ = (*map(int, text.split("x")), 1, 1)
    return x, y, z


def _with_define(workload: Workload, name: str, value: str) -> Workload:
    """The workload compiled with that define and no other one of the name."""
    compilation = workload.kernel.compilation
    kept = tuple(
        option
        for option in compilation.options
        if option != f"-D{name}" and not option.startswith(f"-D{name}=")
    )
    changed = replace(compilation, options=(*kept, f"-D{name}={value}"))
    return replace(workload, kernel=replace(workload.kernel, compilation=changed))


def _mapped(
    outcome: partial[_Outcome], variants: Sequence[Values], processes: int
) -> Iterator[_Outcome]:
    if processes < 2 or len(variants) < 2:
        yield from map(outcome, variants)
        return
    # "spawn": forked threads of numba and of the engines would hang
    with ProcessPoolExecutor(min(processes, len(variants)), get_context("spawn")) as pool:
        yield from pool.map(outcome, variants)


def _outcome(
    workload: Workload, device: Device, options: VariantOptions, sketches: bool, values: Values
) -> _Outcome:
    """What is predicted of a variant, or why it cannot be launched, or sketched."""
    size, run = options.size, options.run
    model = options.model or default_model(device)
    if sketches:
        run = replace(run, sampling=Sampling.SKETCH)
    try:
        variant = with_values(workload, values, size)
        reason = variant.refusal(device, size, run.registers)
        if reason:
            return InputError(reason)
        chosen = replace(run, devices=[device], record_paths=needs_paths(model))
        profile = variant.run(size, options=chosen).profile(device)
        found = estimate(profile, model, **only_time(model, device, ranged=False))
    except KernelcastError as error:
        return error
    registers = None if profile.occupancy is None else profile.occupancy.registers_per_thread
    return TunedVariant(dict(values), found, registers)
