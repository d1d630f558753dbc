"""Parameters of published models, fitted to a session's findings, as entries of `[observed]`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain

from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.entry import Entry, derived
from kernelcast.opencl_bench.device_file.model_parameters import (
    global_bandwidth_parameters,
    luo_suda_parameters,
    mixed_roofline,
    zhang_owens_parameters,
)
from kernelcast.opencl_bench.fits.saturation import Saturation

__all__ = ["fitted_figures"]

_Figure = tuple[str, float, str]
"""Name, value, and what was fitted to what."""


def fitted_figures(basis: DeviceBasis, max_warps: int) -> Iterator[tuple[str, Entry]]:
    """Nothing for a model whose findings are missing or whose curve has no such shape."""
    for name, value, reference in chain(
        _found(lambda: list(_roofline(basis, "fp32"))),
        _found(lambda: list(_roofline(basis, "fp64"))),
        _found(lambda: list(_zhang_owens(basis))),
        _found(lambda: list(_global_bandwidth(basis))),
        _found(lambda: list(_luo_suda(basis, max_warps))),
    ):
        if math.isfinite(value) and value > 0:
            yield name, derived(value, f"{reference}; {basis.date}")


def _found(fit: Callable[[], list[_Figure]]) -> list[_Figure]:
    """Fits raise ValueError for points that determine nothing."""
    try:
        return fit()
    except ValueError:
        return []


def _roofline(basis: DeviceBasis, precision: str) -> Iterator[_Figure]:
    fit = mixed_roofline(basis.session.findings, precision).values
    if fit is None:
        return
    where = f"roofline fitted to the {precision} points of mixed intensity"
    reference = f"{where}; residual {fit.residual:.1%}"
    yield f"roofline_{precision}_ops_per_s", fit.operations_per_s, reference
    yield f"roofline_{precision}_bytes_per_s", fit.bytes_per_s, reference
    yield f"roofline_{precision}_ridge_ratio", fit.ridge, f"operations per byte; {reference}"


def _zhang_owens(basis: DeviceBasis) -> Iterator[_Figure]:
    """Figures of Zhang and Owens' Figure 2: ceilings, and warps where both asymptotes meet."""
    width = int(basis.warp_width.value)
    values = zhang_owens_parameters(basis.session.findings, width).values
    if values is None:
        return
    yield from _saturation("instruction_throughput", "_ops_per_s", values.instructions)
    yield from _saturation("shared_memory_bandwidth", "_bytes_per_s", values.shared)
    for kind, rate in values.type_rates.items():
        reference = f"warp instructions of type {kind} (Zhang and Owens 2011, Table 1)"
        yield f"warp_instructions_type_{kind.lower()}_ops_per_s", rate, reference


def _saturation(name: str, unit: str, fit: Saturation) -> Iterator[_Figure]:
    where = "curve over warps (Zhang and Owens 2011, Figure 2)"
    reference = f"saturation fitted to the {where}; residual {fit.residual:.1%}"
    yield f"saturated_{name}{unit}", fit.ceiling, reference
    # below one warp: a flat curve, which one warp saturates
    yield f"warps_that_saturate_{name}_count", max(1.0, fit.knee), reference


def _global_bandwidth(basis: DeviceBasis) -> Iterator[_Figure]:
    fit = global_bandwidth_parameters(basis.session.findings, basis.facts).values
    if fit is None:
        return
    where = "sweeps over work-groups, their size and loads (Zhang and Owens 2011, Figure 3)"
    reference = f"fitted to the {where}; residual {fit.residual:.1%}"
    yield "memory_clusters_count", fit.clusters, reference
    yield "memory_access_latency_s", fit.latency_s, reference
    yield "saturated_global_bandwidth_bytes_per_s", fit.peak_bytes_per_s, reference


def _luo_suda(basis: DeviceBasis, max_warps: int) -> Iterator[_Figure]:
    parameters = luo_suda_parameters(basis.session.findings, basis.clock_hz, max_warps)
    if parameters.values is None:
        return
    degree = parameters.values.degree
    reference = f"Luo and Suda, equations 3 to 5; residual {degree.residual:.1%}"
    for name in "abcd":
        yield f"parallel_degree_{name}_ratio", getattr(degree, name), reference
    yield "luo_suda_memory_latency_cycles", parameters.values.memory_clocks, reference
