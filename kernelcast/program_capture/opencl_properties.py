"""What an OpenCL program is told about its GPU: values by the numbers of cl_device_info.

What a device file does not know is what drivers of its vendor say of all their GPUs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain

from kernelcast.simcore.device.device import Device

__all__ = ["device_facts"]

_FACT = struct.Struct("<II")
_TYPE_GPU = 1 << 2
_VENDOR_NUMBERS = {"NVIDIA": 0x10DE, "AMD": 0x1002, "Intel": 0x8086}
_USUAL_SHARED_BYTES = 48 << 10
_VERSION = (3 << 22, (1 << 22) | (2 << 12))
"""OpenCL 3.0 and its language 1.2, as numbers."""
_EXTENSIONS = (
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
    "cl_khr_byte_addressable_store cl_khr_3d_image_writes cl_khr_icd"
)
_NVIDIA, _AMD = " cl_nv_device_attribute_query", " cl_amd_device_attribute_query"
_SINGLE_CONFIG = 0x3F | 1 << 7
"""Denormals, infinities, all roundings, multiply-add, correctly rounded division."""
_DOUBLE_CONFIG = 0x3F
_SVM_COARSE_AND_FINE = 0b11
_IN_AND_OUT_OF_ORDER_WITH_PROFILING = 0b11
_READ_WRITE_CACHE, _LOCAL = 2, 1
_RELAXED_AND_ACQUIRE = 0b0011 | 1 << 4 | 1 << 5


def device_facts(device: Device) -> bytes:
    """Number and size of each value, and the value."""
    facts = chain(_identity(device), _limits(device), _memory(device), _later(device))
    return b"".join(_FACT.pack(number, len(value)) + value for number, value in facts)


def _u32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _u64(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def _vendor(device: Device) -> str:
    given = device.architecture.vendor
    return {"NVIDIA": "NVIDIA Corporation", "AMD": "Advanced Micro Devices, Inc."}.get(given, given)


def _identity(device: Device) -> Iterator[tuple[int, bytes]]:
    architecture = device.architecture
    name, is_nvidia = device.title, architecture.vendor == "NVIDIA"
    if architecture.vendor not in name:
        name = f"{architecture.vendor} {name}"
    extensions = _EXTENSIONS + (" cl_khr_fp64" if device.sm.fp64_lanes else "") + " cl_khr_fp16"
    extensions += _NVIDIA if is_nvidia else _AMD if architecture.vendor == "AMD" else ""
    yield 0x1000, _u64(_TYPE_GPU)
    yield 0x1001, _u32(_VENDOR_NUMBERS.get(architecture.vendor, 0))
    yield 0x102B, _text(name)
    yield 0x102C, _text(_vendor(device))
    yield 0x102D, _text("kernelcast")
    yield 0x102E, _text("FULL_PROFILE")
    yield 0x102F, _text("OpenCL 3.0 kernelcast")
    yield 0x1030, _text(extensions)
    yield 0x103D, _text("OpenCL C 1.2 kernelcast")
    yield 0x103F, _text("")
    if is_nvidia:
        major, _, minor = (architecture.compute_capability or "0.0").partition(".")
        yield 0x4000, _u32(int(major))
        yield 0x4001, _u32(int(minor or 0))
        yield 0x4002, _u32(device.sm.registers)
        yield 0x4003, _u32(architecture.warp_width)
        yield 0x4004, _u32(1)  # copies and kernels at a time
        yield 0x4005, _u32(0)  # no limit of a kernel's time
        yield 0x4006, _u32(0)  # memory of its own
    elif architecture.vendor == "AMD":
        yield 0x4038, _text(name)
        yield 0x4042, _u32(device.sm.fp32_lanes // max(1, device.sm.warp_schedulers))
        yield 0x4043, _u32(architecture.warp_width)


def _limits(device: Device) -> Iterator[tuple[int, bytes]]:
    sm = device.sm
    threads = sm.max_threads_per_thread_block
    yield 0x1002, _u32(device.architecture.sm_count)
    yield 0x1003, _u32(3)
    yield 0x1004, _u64(threads)
    yield 0x1005, _u64(threads, threads, 64 if threads <= 1024 else threads)
    for number in (*range(0x1006, 0x100B), *range(0x1036, 0x103B)):
        yield number, _u32(1)
    for number in (0x100B, 0x103B):
        yield number, _u32(int(bool(sm.fp64_lanes)))
    for number in (0x1034, 0x103C):
        yield number, _u32(1)
    yield 0x100C, _u32(int(device.architecture.clock_hz / 1e6))
    yield 0x100D, _u32(64)
    yield 0x101B, _u64(_SINGLE_CONFIG)
    yield 0x1032, _u64(_DOUBLE_CONFIG if sm.fp64_lanes else 0)
    yield 0x1033, _u64(_DOUBLE_CONFIG)
    yield 0x1017, _u64(4352)
    yield 0x1025, _u64(1)
    yield 0x1029, _u64(1)
    yield 0x102A, _u64(_IN_AND_OUT_OF_ORDER_WITH_PROFILING)
    for number in (0x1026, 0x1027, 0x1028, 0x103E, 0x1047):
        yield number, _u32(1)  # little-endian, available, a compiler, a linker, one reference
    yield 0x1048, _u32(0)
    yield 0x1049, _u64(1 << 20)


def _memory(device: Device) -> Iterator[tuple[int, bytes]]:
    capacity = int(device.dram.capacity_bytes)
    shared = device.sm.max_shared_bytes_per_thread_block
    yield 0x100E, _u32(256)
    yield 0x100F, _u32(32)
    yield 0x1010, _u64(capacity // 4)
    for number in (0x1011, 0x1012):
        yield number, _u64(32768)
    for number in (0x1013, 0x1014, 0x1015):
        yield number, _u64(16384)
    yield 0x1016, _u32(1)
    yield 0x1018, _u32(32)
    yield 0x1019, _u32(1024)  # bits
    yield 0x101A, _u32(128)
    yield 0x101C, _u32(_READ_WRITE_CACHE)
    yield 0x101D, _u32(device.l2.line_bytes)
    yield 0x101E, _u64(int(device.l2.capacity_bytes))
    yield 0x101F, _u64(capacity)
    yield 0x1020, _u64(64 << 10)
    yield 0x1021, _u32(9)
    yield 0x1022, _u32(_LOCAL)
    is_nvidia = device.architecture.vendor == "NVIDIA"
    yield 0x1023, _u64(min(_USUAL_SHARED_BYTES, shared) if is_nvidia else shared)
    yield 0x1024, _u32(int(bool(device.dram.ecc)))
    yield 0x1035, _u32(0)
    yield 0x1040, _u64(1 << 27)
    yield 0x1041, _u64(2048)


def _later(device: Device) -> Iterator[tuple[int, bytes]]:
    """Values that OpenCL 1.2 to 3.0 added, most of them for what this device has not."""
    yield 0x1042, _u64(0)
    yield 0x1043, _u32(0)
    yield 0x1044, b""
    yield 0x1045, _u64(0)
    yield 0x1046, b""
    for number in (0x104A, 0x104B, 0x104C, 0x104F, 0x1050, 0x1051, 0x1052, 0x1055, 0x1056, 0x1057):
        yield number, _u32(0)
    for number in (0x104D, 0x104E, 0x1054, 0x1070):
        yield number, _u64(0)
    yield 0x1053, _u64(_SVM_COARSE_AND_FINE)
    for number in (0x1058, 0x1059, 0x105A):
        yield number, _u32(0)
    yield 0x105B, _text("SPIR-V_1.2")
    yield 0x105C, _u32(device.sm.max_threads_per_thread_block // device.architecture.warp_width)
    yield 0x105D, _u32(0)
    yield 0x105E, _u32(_VERSION[0])
    yield 0x1060, b""
    yield 0x1061, _named_version("SPIR-V", (1 << 22) | (2 << 12))
    yield 0x1062, b""
    yield 0x1063, _u64(_RELAXED_AND_ACQUIRE)
    yield 0x1064, _u64(_RELAXED_AND_ACQUIRE)
    for number in (0x1065, 0x1068, 0x1069, 0x1071):
        yield number, _u32(0)
    yield 0x1066, _named_version("OpenCL C", _VERSION[1]) + _named_version("OpenCL C", _VERSION[0])
    yield 0x1067, _u64(device.architecture.warp_width)
    yield 0x106F, _named_version("__opencl_c_images", _VERSION[0])
    yield 0x1072, _text("")


def _named_version(name: str, version: int) -> bytes:
    return _u32(version) + name.encode().ljust(64, b"\0")
