"""Ranks the launch configurations of a kernel by predicted time.

`kc.rank(kernel, "a100-40gb", block="product=1024", folding="none,2z")`; docs/rank.md says what can
be varied and how configurations are compared.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from kernelcast.address.extraction import address_kernel
from kernelcast.address.file import is_address_file, is_address_line, load_address_kernel
from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.execution.code import Code, code_named
from kernelcast.execution.sampling import Sampling
from kernelcast.inputs.pystencils import PystencilsKernel
from kernelcast.models import get_model
from kernelcast.progress import Progress
from kernelcast.ranking.addresses import WARPSPEED, AddressedKernel, AddressedWorkload
from kernelcast.ranking.execution import ExecutedWorkload
from kernelcast.ranking.ranking import Ranking
from kernelcast.ranking.store import RankStore
from kernelcast.ranking.sweep import RankedKernel, rank_configurations
from kernelcast.ranking.variations import (
    ShapeLimits,
    configurations,
    read_foldings,
    read_shapes,
)
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["RankOptions", "RankSource", "rank", "rank_kernel"]

RankSource: TypeAlias = AddressKernel | PystencilsKernel | Workload | str | os.PathLike[str]
"""A kernel, or the name of a workload file or a file of addresses, or a line of addresses."""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Options of a ranking.

    `model` None: `warpspeed` where addresses are affine, else what `estimate` takes. `size` to
    `checked_size` are of workloads; `checked_size` is one in which every configuration must
    reproduce the reference. `store`: file of a sweep that can be resumed. `code`: that of kernels
    that are executed.
    """

    model: str | None = None
    size: str | None = None
    registers: int | None = None
    engine: str = "auto"
    limits: Limits | None = None
    sampling: Sampling = Sampling.AUTO
    checked_size: str | None = None
    processes: int = 1
    store: Path | None = None
    code: Code | str | None = None


def rank(
    kernel: RankSource,
    device: Device | str | Sequence[Device | str],
    *,
    block: str = "powers",
    folding: str = "none",
    options: RankOptions | None = None,
    progress: Progress | None = None,
) -> tuple[Ranking, ...]:
    """A ranking for each device, fastest configuration first.

    `block` and `folding` are texts as `kernelcast rank --vary` takes them. KernelcastError for what
    cannot be varied; ModelNotApplicable when the chosen model cannot say anything of the kernel.
    """
    given = [device] if isinstance(device, Device | str) else device
    targets = [load_device(item) if isinstance(item, str) else item for item in given]
    varied = {"block": block, "folding": folding}
    return rank_kernel(kernel, targets, varied, options or RankOptions(), progress)


def rank_kernel(
    source: RankSource,
    devices: Sequence[Device],
    varied: Mapping[str, str],
    options: RankOptions,
    progress: Progress | None = None,
) -> tuple[Ranking, ...]:
    """`varied`: texts by `block` and `folding`; what is missing stays as the kernel has it."""
    kernel = _ranked(source, options)
    limits = ShapeLimits(
        kernel.cells,
        max(device.architecture.warp_width for device in devices),
        max(device.sm.max_threads_per_thread_block for device in devices),
    )
    shapes = read_shapes(varied["block"], limits) if "block" in varied else (kernel.thread_block,)
    foldings = read_foldings(varied["folding"]) if "folding" in varied else (kernel.folding,)
    return rank_configurations(
        kernel,
        configurations(shapes, foldings),
        devices,
        processes=options.processes,
        store=None if options.store is None else RankStore(options.store),
        progress=progress,
    )


def _ranked(source: RankSource, options: RankOptions) -> RankedKernel:
    if isinstance(source, PystencilsKernel):
        source = source.address_kernel
    if isinstance(source, str | os.PathLike):
        if is_address_line(source) or is_address_file(source):
            source = load_address_kernel(source, options.size)
        else:
            source = load_workload(source)
    if isinstance(source, Workload):
        return _ranked_workload(source, options)
    if options.model not in (None, WARPSPEED):
        raise KernelcastError(
            f"a kernel of addresses has no code to execute: {WARPSPEED} only, not {options.model}"
        )
    if options.checked_size is not None:
        raise KernelcastError("a kernel of addresses has no results to check")
    if options.registers is not None:
        source = replace(source, registers=options.registers)
    return AddressedKernel(source)


def _ranked_workload(workload: Workload, options: RankOptions) -> RankedKernel:
    """The workload by addresses if they are affine and nothing else was asked for."""
    executed = ExecutedWorkload(
        workload,
        options.size,
        options.model,
        options.registers,
        options.engine,
        options.limits,
        options.sampling,
        options.checked_size,
        code=None if options.code is None else code_named(options.code),
    )
    if options.model is not None:
        get_model(options.model)
        if options.model != WARPSPEED:
            return executed
    try:
        found = address_kernel(workload, options.size)
    except ModelNotApplicable as reason:
        if options.model == WARPSPEED:
            raise
        return replace(executed, reason=f"executed, as {WARPSPEED} does not apply: {reason}")
    registers = options.registers or workload.kernel.registers
    return AddressedWorkload(found, workload, options.size, registers, options.checked_size)
