"""Figures of `[observed]` that the hierarchical roofline takes for its ceilings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import harmonic_mean

from kernelcast.opencl_bench.compute.float_operations import SPECIAL_FUNCTIONS
from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.entry import Entry, derived, measured
from kernelcast.opencl_bench.device_file.sections import last_cache_section, local_words, near_cache
from kernelcast.opencl_bench.fits.memory_levels import bandwidth_levels, value_between

__all__ = ["ceiling_figures"]

_WORD_BYTES = 4
_FUNCTIONS = tuple(f"{name}_throughput" for name in SPECIAL_FUNCTIONS)
_PLAIN_CURVE = "work_item_bandwidth_over_footprint"
_READ_CURVE = "read_bandwidth_over_footprint"


def ceiling_figures(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """Figures of local memory, special functions, caches and knees of the read bandwidth.

    Caches are read as plain work-items do; what was not measured is absent.
    """
    yield (
        "shared_bandwidth_bytes_per_s",
        measured(
            _WORD_BYTES * local_words(basis),
            f"local memory, loads and stores, the best of all widths of an access; {basis.date}",
        ),
    )
    if basis.has(*_FUNCTIONS):
        rates = [basis.value(name) for name in _FUNCTIONS]
        yield (
            "special_function_throughput_ops_per_s",
            derived(harmonic_mean(rates), f"harmonic mean of {', '.join(_FUNCTIONS)}"),
        )
    yield from _plain_cache_figures(basis)
    yield from _knees(basis)


def _plain_cache_figures(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """Read bandwidth of plain work-items in what the file calls L1 and L2, and from the memory.

    The curve is over the footprint of one core: of a shared cache it has its share. Its work-items
    step by the width of a work-group, as loops of kernels for GPUs do: a processor, which runs them
    one vector after the other, then meets the lines of the memory in another order than streams.
    """
    curve = basis.session.curves.get(_PLAIN_CURVE)
    near = near_cache(basis)
    if curve is None:
        return
    begin = 0.0
    levels = [("l2", float(last_cache_section(basis)["capacity_bytes"].value) / basis.cores)]
    if near is not None:
        levels.insert(0, ("l1", float(near.capacity.value)))
    levels.append(("dram", math.inf))
    for name, end in levels:
        rate = value_between(curve, begin, end)
        if rate is not None:
            span = f"to {end:.0f} bytes" if math.isfinite(end) else "bytes on"
            reference = f"median from {begin:.0f} {span}; {basis.reference(curve)}"
            yield f"work_item_{name}_read_bandwidth_bytes_per_s", measured(rate, reference)
        begin = end


def _knees(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """Footprints at which bandwidth falls from one plateau to the next.

    Also of a last cache whose latency the address translation hides.
    """
    curve = basis.session.curves.get(_READ_CURVE)
    levels = bandwidth_levels(curve) if curve is not None else ()
    for number, level in enumerate(levels, 1):
        if level.capacity_bytes is not None:
            reference = (
                f"half-way between plateaus of {_READ_CURVE}: {level.value:.4g} bytes/s up to "
                f"{level.fits_bytes:.0f} bytes, scatter {level.residual:.1%}; {basis.date}"
            )
            name = f"read_bandwidth_knee_{number}_bytes"
            yield name, measured(level.capacity_bytes, reference)
