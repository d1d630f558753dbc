"""The pipeline in calls: load, run, profile, estimate. `import kernelcast as kc` offers them.

module  = kc.load("sgemm.ptx")
trace   = module["sgemm"].run(grid=(20, 40), block=(32, 32), args=[a, b, c, 640])
profile = trace.profile(kc.device("gtx-480"))
print(kc.estimate(profile))
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kernelcast.cross_check import contradictions
from kernelcast.defaults import DEFAULT_MODEL, default_model, why_not_default
from kernelcast.errors import KernelcastError, TraceFormatError, nearest
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.native.sources import ptx_module
from kernelcast.inputs.source_file import load_source
from kernelcast.models import (
    ModelOptions,
    check_options,
    get_model,
    is_built_in,
    utilization_factor,
)
from kernelcast.models.achieved import achieved_shares
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.profile.measured_profile import profile_from_metrics
from kernelcast.simcore.profile.profile import KernelProfile, WorkType
from kernelcast.store.estimates import kept_estimate
from kernelcast.traces.accelsim.reader import ACCELSIM_SUFFIXES, read_accelsim_trace
from kernelcast.traces.profilers.metrics import read_metrics
from kernelcast.traces.stored.parquet import read_trace, write_trace

__all__ = [
    "DEFAULT_MODEL",
    "device",
    "devices",
    "estimate",
    "is_trace_file",
    "load",
    "load_metrics",
    "load_ptx",
    "load_trace",
    "reference_utilization",
    "save_trace",
]

_STORED_SUFFIX = ".parquet"


def load(
    path: str | os.PathLike[str],
    *,
    arch: str = "",
    options: Sequence[str] = (),
    include: Sequence[str | os.PathLike[str]] = (),
    names: Sequence[str] = (),
) -> LoadedModule:
    """Loads the kernels of a file, whatever its format.

    PTX, CUDA C++ (`.cu`), HIP (`.hip`), OpenCL C (`.cl`), LLVM IR (`.ll`, `.bc`), SPIR-V (`.spv`),
    a cubin, a fat binary, an object, a shared library or an executable. A kernel with an
    unsupported instruction raises when it is asked for, the others still run.

    `arch` such as `sm_80` is what a `.cu` file is compiled for: by default sm_75, or the first
    newer one that it needs, and for machine code the architecture of each device. Of a fat binary
    it names the PTX that is taken, else the machine code, by default the newest; a `.cl` file is
    compiled to PTX with it and to LLVM IR without; a HIP source knows it, by default gfx90a, by its
    macro.
    `options` go to the compiler, NVRTC or clang, `include` are its folders of headers, `names` the
    instances of templates that are wanted, `scale<float>`, or the kernels of a library.

    Raises PtxSyntaxError or CompilationError with the place, InputError when there are no kernels
    or no compiler.
    """
    given = CompilerOptions(arch, tuple(options), tuple(map(Path, include)), tuple(names))
    return load_source(path, given)


def load_ptx(text: str, name: str = "<ptx>") -> LoadedModule:
    """The kernels of a PTX text, which messages call `name`; PtxSyntaxError when it is no PTX."""
    return ptx_module(text, name)


def device(name: str | Path) -> Device:
    """A known device (`gtx-480`) or a device file; UnknownDevice lists the nearest names."""
    return load_device(name)


def devices() -> tuple[str, ...]:
    """The names of all known devices."""
    return known_devices()


def estimate(
    profile: KernelProfile,
    model: str | None = None,
    device: Device | str | None = None,
    reference_time_s: float | None = None,
    work_type: WorkType | str | None = None,
    *,
    utilization: float | None = None,
    variant: str | None = None,
    **own: Any,
) -> Estimate:
    """The model's time for the profile's own device, or for another `device`.

    The model is `interval` unless named; for a device without `[timing]` it is a roofline, and the
    estimate says so.
    With another device the profile is used there as it is: measured on A, estimated for B.
    `reference_time_s` is a time measured on the profile's device, all launches of the profile
    together; the estimate is then corrected by E_util = measured / predicted there (Konstantinidis
    thesis, eq 5.13). `utilization` gives that factor directly. `work_type` overrides which
    operations count as useful; `variant` names another reading of the model's paper
    (`kernelcast.models.variants`), `own` are options that only this model has
    (`kernelcast.models.model_options`): `computation_proportion` replaces P of `mpd-cpd`. Raises
    ModelNotApplicable when the model has nothing to say or no such option, KernelcastError for what
    is no profile.
    """
    if not isinstance(profile, KernelProfile):
        raise KernelcastError(
            "an estimate is made of a profile, as trace.profile(device) gives it, "
            f"not of a {type(profile).__name__}"
        )
    target = (profile.target or profile.device) if device is None else device
    chosen = load_device(target) if isinstance(target, str) else target
    name = default_model(chosen) if model is None else model
    if reference_time_s is not None:
        if utilization is not None:
            raise KernelcastError("give either a reference time or a utilization factor")
        utilization = reference_utilization(
            profile,
            reference_time_s,
            name,
            work_type=work_type,
            variant=variant,
            **own,
        )
    given = {option: value for option, value in own.items() if value is not None}
    check_options((name,), given)
    options = ModelOptions(_work_type(work_type), utilization, variant, given)
    make = partial(_estimated, profile, name, chosen, options)
    if is_built_in(name):
        found = kept_estimate(profile, (name, chosen, chosen.provenance, options), make)
    else:
        found = make()
    if model is None:
        return replace(found, assumptions=(*why_not_default(chosen), *found.assumptions))
    return found


def _estimated(
    profile: KernelProfile, model: str, device: Device, options: ModelOptions
) -> Estimate:
    """What a model says, and where it contradicts another one's bound."""
    found = get_model(model)(profile, device, options)
    against = contradictions(found, profile, device, options)
    return replace(
        found,
        code=profile.code,
        contradictions=against,
        achieved=achieved_shares(profile, device, found.time_s),
        sample_share=profile.sample_share,
    )


def reference_utilization(
    profile: KernelProfile,
    measured_s: float,
    model: str | None = None,
    device: Device | str | None = None,
    work_type: WorkType | str | None = None,
    *,
    variant: str | None = None,
    **own: Any,
) -> float:
    """E_util of the Konstantinidis thesis, eq 5.13: measured over predicted time.

    `measured_s` was measured on the profile's own device, which `device` may give; the rest as
    for `estimate`.
    """
    predicted = estimate(
        profile,
        model,
        device,
        work_type=work_type,
        variant=variant,
        **own,
    )
    return utilization_factor(predicted.time_s, measured_s)


def load_metrics(
    path: str | os.PathLike[str],
    measured_on: Device | str,
    kernel: str | None = None,
    repeats: int = 1,
) -> KernelProfile:
    """A profile from a profiler's file: nvprof, Nsight Compute, rocprof, or plain `metric,value`.

    `kernel` names one of the file's kernels. Raises MetricsError naming what is missing.
    """
    source = load_device(measured_on) if isinstance(measured_on, str) else measured_on
    measured = read_metrics(Path(path)).kernel(kernel)
    name = kernel or measured.kernel or Path(path).stem
    return replace(profile_from_metrics(measured, name, source.name, repeats), target=source)


def is_trace_file(path: str | os.PathLike[str]) -> bool:
    """Whether `load_trace` reads files of that name: `.parquet`, `.traceg`, `.traceg.xz`."""
    return Path(path).name.endswith((_STORED_SUFFIX, *ACCELSIM_SUFFIXES))


def load_trace(path: str | os.PathLike[str]) -> KernelTrace:
    """A trace that `save_trace` stored, or a kernel trace of Accel-Sim's tracer, by its suffix.

    TraceFormatError, in one line, when the file is damaged, newer, or something else.
    """
    if Path(path).name.endswith(ACCELSIM_SUFFIXES):
        return KernelTrace((read_accelsim_trace(path),))
    stored = read_trace(path)
    return KernelTrace((stored.trace,), stored.repeats)


def save_trace(trace: KernelTrace, path: str | os.PathLike[str]) -> None:
    """Writes a Parquet file that gives the same profiles again; the format is in docs/traces.md.

    TraceFormatError when it cannot be written, or was executed for several warp widths or as the
    machine code of several architectures.
    """
    if len(trace.traces) > 1:
        widths = " and ".join(str(item.warp_width) for item in trace.traces)
        raise TraceFormatError(
            f"a file holds warps of one width, the trace those of {widths} threads: run the kernel "
            "with one `warp_width`"
        )
    if trace.others:
        codes = " and ".join(sorted(item.code for item in (trace, *trace.others)))
        raise TraceFormatError(
            f"a file holds one code, the trace has {codes}: run the kernel for devices of one "
            "architecture, or with `code='source'`"
        )
    write_trace(path, trace.data, trace.repeats)


def _work_type(name: WorkType | str | None) -> WorkType | None:
    if name is None or isinstance(name, WorkType):
        return name
    known = [item.value for item in WorkType]
    if name not in known:
        raise KernelcastError(
            f"unknown type of work {name!r}{nearest(name, known)}; known: {', '.join(known)}"
        )
    return WorkType(name)
