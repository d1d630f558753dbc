"""The sections of a measured device's file that describe the architecture."""

from __future__ import annotations

from kernelcast.opencl_bench.device_file.basis import CacheLevel, DeviceBasis, power_of_two_above
from kernelcast.opencl_bench.device_file.entry import Entry, Section, assumed, datasheet, derived
from kernelcast.simcore.device.device import Source

__all__ = [
    "architecture_section",
    "constant_section",
    "dram_section",
    "last_cache_section",
    "local_words",
    "near_cache",
    "near_cache_section",
    "peak_section",
    "shared_section",
    "sm_section",
]

_SLACK = 1.1
"""Boards run above their nominal clock, and measurements scatter: as the checker allows."""
_WAYS = 16
_MAX_NEAR_CACHE_BYTES = 1 << 21
_SHARED_RANGE = (1 << 10, 1 << 20)
_GPU_THREADS, _GPU_THREAD_BLOCKS, _GPU_REGISTERS, _GPU_SCHEDULERS = 2048, 16, 65536, 4
_TYPICAL = "OpenCL does not tell; the usual figure of GPUs since 2012"
_NO_LIMIT = "private variables of a work-item live in memory here: a figure that never limits"


def architecture_section(basis: DeviceBasis) -> Section:
    """The section `[architecture]`, as the driver tells it."""
    facts = basis.facts
    return {
        "vendor": datasheet(facts.vendor or "unknown", "CL_DEVICE_VENDOR"),
        "name": datasheet(facts.name or "unknown", "CL_DEVICE_NAME"),
        "compute_capability": datasheet(facts.driver, "CL_DEVICE_VERSION and CL_DRIVER_VERSION"),
        "sm_count": datasheet(
            basis.cores,
            "CL_DEVICE_MAX_COMPUTE_UNITS" + ("; cores stand for SMs" if facts.is_cpu else ""),
        ),
        "warp_width": basis.warp_width,
        "clock_hz": basis.clock,
    }


def sm_section(basis: DeviceBasis) -> Section:
    """The section `[sm]`: occupancy, shared memory and lanes."""
    occupancy = _cpu_occupancy(basis) if basis.facts.is_cpu else _gpu_occupancy(basis)
    low, high = _SHARED_RANGE
    shared = min(max(basis.facts.local_bytes, low), high)
    told = datasheet(shared, f"CL_DEVICE_LOCAL_MEM_SIZE, within {low} to {high} bytes")
    width = int(basis.warp_width.value)
    return {
        **occupancy,
        "shared_bytes": told,
        "max_shared_bytes_per_thread_block": told,
        "shared_allocation_bytes": assumed(1, "OpenCL does not tell: no rounding"),
        "fp32_lanes": _lanes(basis, "fp32", _fp32_work(basis)),
        "fp64_lanes": _lanes(basis, "fp64", _fp64_work(basis)),
        "warp_schedulers": derived(
            max(1, int(_lanes(basis, "fp32", _fp32_work(basis)).value) // width),
            "fp32_lanes over warp_width: the warps that can issue in a cycle",
        )
        if basis.facts.is_cpu
        else assumed(_GPU_SCHEDULERS, _TYPICAL),
    }


def _cpu_occupancy(basis: DeviceBasis) -> Section:
    """One work-group at a time for each core, which executes its work-items in vectors."""
    width = int(basis.warp_width.value)
    warps = max(1, basis.facts.max_work_group // width)
    threads = warps * width
    one = "one work-group at a time runs on a core"
    return {
        "max_threads": derived(threads, f"CL_DEVICE_MAX_WORK_GROUP_SIZE in whole warps; {one}"),
        "max_warps": derived(warps, "max_threads over warp_width"),
        "max_thread_blocks": derived(1, one),
        "max_threads_per_thread_block": derived(threads, "as max_threads"),
        "registers": assumed(threads * 256, _NO_LIMIT),
        "register_allocation_unit": assumed(256, _NO_LIMIT),
        "register_allocation_per": assumed("warp", _NO_LIMIT),
        "warp_allocation_granularity": assumed(1, _NO_LIMIT),
        "max_registers_per_thread": assumed(255, _NO_LIMIT),
    }


def _gpu_occupancy(basis: DeviceBasis) -> Section:
    width = int(basis.warp_width.value)
    warps = max(_GPU_THREADS, basis.facts.max_work_group) // width
    group = max(1, min(basis.facts.max_work_group, warps * width))
    return {
        "max_threads": assumed(warps * width, _TYPICAL),
        "max_warps": derived(warps, "max_threads over warp_width"),
        "max_thread_blocks": assumed(min(_GPU_THREAD_BLOCKS, warps), _TYPICAL),
        "max_threads_per_thread_block": datasheet(group, "CL_DEVICE_MAX_WORK_GROUP_SIZE"),
        "registers": assumed(_GPU_REGISTERS, _TYPICAL),
        "register_allocation_unit": assumed(256, _TYPICAL),
        "register_allocation_per": assumed("warp", _TYPICAL),
        "warp_allocation_granularity": assumed(4, _TYPICAL),
        "max_registers_per_thread": assumed(255, _TYPICAL),
    }


def _fp32_work(basis: DeviceBasis) -> float:
    """Operations per second that the lanes of single precision must allow."""
    return max(
        basis.highest("fp32_multiply_add_throughput"),
        basis.highest("int32_multiply_add_throughput"),
        2 * basis.highest("int32_add_throughput"),
        _fp64_work(basis),
    )


def _fp64_work(basis: DeviceBasis) -> float:
    name = "fp64_multiply_add_throughput"
    return basis.highest(name) if basis.has(name) else 0.0


def _lanes(basis: DeviceBasis, kind: str, ops_per_s: float) -> Entry:
    if not ops_per_s:
        return datasheet(0, f"no extension for {kind}")
    per_lane = 2 * basis.cores * basis.clock_hz * _SLACK
    return derived(
        power_of_two_above(ops_per_s / per_lane),
        f"the power of two that the measured throughputs of {kind} need: {ops_per_s:.4g} "
        f"operations/s over 2 x {basis.cores} x {basis.clock_hz:.4g} Hz",
    )


def near_cache(basis: DeviceBasis) -> CacheLevel | None:
    """What the file calls L1: the last cache before the last one that fits into an SM."""
    near = [
        cache for cache in basis.caches[:-1] if float(cache.capacity.value) <= _MAX_NEAR_CACHE_BYTES
    ]
    if not near:
        return None
    return near[-1] if basis.facts.is_cpu else near[0]


def near_cache_section(basis: DeviceBasis, cache: CacheLevel) -> Section:
    """The section of the cache nearest to a compute unit."""
    role = (
        "the largest cache that a core has for itself: what misses it goes to the shared cache"
        if basis.facts.is_cpu
        else "the cache nearest to the compute unit"
    )
    return _cache_section(basis, cache, role, write_allocate=False)


def last_cache_section(basis: DeviceBasis) -> Section:
    """The section of the last cache before the memory."""
    role = "the last cache before the memory, because its misses are the DRAM traffic"
    return _cache_section(basis, basis.caches[-1], role, write_allocate=True)


def _cache_section(
    basis: DeviceBasis, cache: CacheLevel, role: str, *, write_allocate: bool
) -> Section:
    line = int(basis.line.value)
    unit = line * _WAYS
    found = cache.capacity
    capacity = max(1, int(found.value) // unit) * unit
    unknown = "OpenCL does not tell"
    return {
        "capacity_bytes": Entry(
            capacity, found.source, f"{role}; {found.reference}; in whole sets of {unit} bytes"
        ),
        "line_bytes": basis.line,
        "sector_bytes": basis.sector,
        "ways": assumed(_WAYS, unknown),
        "replacement": assumed("lru", unknown),
        "index": assumed("modulo", unknown),
        "caches_global_loads": derived(True, "the curve of global loads shows this cache"),
        "caches_read_only_loads": derived(True, "as global loads"),
        "caches_local": assumed(True, unknown),
        "write_allocate": assumed(
            write_allocate,
            "stores go on to the last cache"
            if not write_allocate
            else "written lines stay until they are evicted",
        ),
    }


def shared_section(basis: DeviceBasis) -> Section:
    """The section `[shared]`: banks as detected, or as the measured bandwidth needs."""
    found, width = basis.derived.local_banks, basis.derived.local_bank_bytes
    words = local_words(basis) / (basis.cores * basis.clock_hz * _SLACK)
    needed = power_of_two_above(words)
    detected = None if found.value is None else round(found.value)
    if detected is not None and detected.bit_count() == 1 and detected >= needed:
        banks = Entry(detected, Source.MEASURED, f"{found.reason}; {basis.date}")
    else:
        banks = derived(
            needed,
            "the power of two that the bandwidth of local memory needs at this clock; the curve "
            f"over stride does not tell: {found.reason}",
        )
    word = None if width.value is None else round(width.value)
    if word is not None and word > 0 and word.bit_count() == 1:
        bank_bytes = Entry(word, Source.MEASURED, f"{width.reason}; {basis.date}")
    else:
        bank_bytes = assumed(4, f"one word of 32 bits; the curve does not tell: {width.reason}")
    return {"banks": banks, "bank_bytes": bank_bytes}


def local_words(basis: DeviceBasis) -> float:
    """32-bit words of local memory a second, by the best of all widths."""
    widths = [f"local_bandwidth_{bits}_bit" for bits in (32, 64, 128)]
    wide = (basis.value(name) / 4 for name in widths if basis.has(name))
    return max(basis.value("local_load_store_throughput"), *wide, 0.0)


def constant_section(basis: DeviceBasis) -> Section:
    """The section `[constant]`: on a processor constants are ordinary memory."""
    if basis.facts.is_cpu:
        width = int(basis.warp_width.value)
        reason = "constants are ordinary memory here: every lane loads its own word"
        return {"words_per_pass": derived(width, reason), "word_bytes": derived(4, reason)}
    return {
        "words_per_pass": assumed(1, "one word for all threads of a warp, as GPUs do"),
        "word_bytes": assumed(4, "a word of 32 bits"),
    }


def dram_section(basis: DeviceBasis) -> Section:
    """The section `[dram]`, with the highest measured bandwidth."""
    best = max(basis.dram_bandwidths, key=lambda name: basis.dram_bandwidths[name])
    is_cpu = basis.facts.is_cpu
    return {
        "bandwidth_bytes_per_s": derived(
            basis.dram_bandwidths[best],
            f"the highest that was measured, {best}: OpenCL does not tell the theoretical one",
        ),
        "transaction_bytes": basis.sector,
        "capacity_bytes": datasheet(basis.facts.global_bytes, "CL_DEVICE_GLOBAL_MEM_SIZE"),
        "ecc": assumed(False, "not asked for"),
        "partial_write_fills": derived(True, "a processor reads a line before it writes to it")
        if is_cpu
        else assumed(False, "OpenCL does not tell"),
    }


def peak_section(basis: DeviceBasis) -> Section:
    """The section of theoretical peaks, from lanes and clock."""
    return {
        f"{kind}_flops_per_s": derived(
            2.0 * int(_lanes(basis, kind, work).value) * basis.cores * basis.clock_hz,
            f"2 x {kind}_lanes x sm_count x clock_hz",
        )
        for kind, work in (("fp32", _fp32_work(basis)), ("fp64", _fp64_work(basis)))
    }
