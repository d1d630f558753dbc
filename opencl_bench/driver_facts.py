"""What a driver says of its device, and which features follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelcast.opencl_bench.target import DeviceFacts, Feature

__all__ = ["device_facts"]

_MEGAHERTZ = 1e6


def device_facts(handle: Any) -> DeviceFacts:
    """`handle`: pyopencl's device. Sizes in bytes; 0 for what the driver leaves open."""
    return DeviceFacts(
        name=handle.name.strip(),
        vendor=handle.vendor.strip(),
        platform=handle.platform.name.strip(),
        driver=f"{handle.version.strip()}, {handle.driver_version.strip()}",
        is_cpu=_is_cpu(handle),
        compute_units=int(handle.max_compute_units),
        clock_hz=_MEGAHERTZ * float(handle.max_clock_frequency),
        global_bytes=int(handle.global_mem_size),
        max_buffer_bytes=int(handle.max_mem_alloc_size),
        local_bytes=int(handle.local_mem_size),
        constant_bytes=int(handle.max_constant_buffer_size),
        cache_bytes=int(handle.global_mem_cache_size),
        cache_line_bytes=int(handle.global_mem_cacheline_size),
        max_work_group=int(handle.max_work_group_size),
        preferred_work_group_multiple=_preferred_multiple(handle),
        features=frozenset(_features(handle)),
        llvm_float_width=max(1, int(handle.native_vector_width_float)),
    )


def _is_cpu(handle: Any) -> bool:
    import pyopencl

    return bool(handle.type & pyopencl.device_type.CPU)


def _features(handle: Any) -> Iterator[Feature]:
    extensions = handle.extensions.split()
    if "cl_khr_fp64" in extensions or bool(handle.double_fp_config):
        yield Feature.FP64
    if "cl_khr_fp16" in extensions:
        yield Feature.FP16
    if handle.image_support:
        yield Feature.IMAGES
    if "cl_khr_int64_base_atomics" in extensions:
        yield Feature.INT64_ATOMICS


def _preferred_multiple(handle: Any) -> int:
    """The preferred multiple of work-group sizes, as the driver tells it; 1 where it does not."""
    import pyopencl

    try:
        return max(1, int(handle.preferred_work_group_size_multiple))
    except (AttributeError, pyopencl.Error):
        return 1
