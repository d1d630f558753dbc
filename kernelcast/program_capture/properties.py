"""What a program is told about its GPU: attributes, and the runtime's structure of properties.

Numbers of attributes are those of CUdevice_attribute, offsets those of cudaDeviceProp in the public
headers of CUDA 11.8, 12.9 and 13.0. What a device file does not know is what all GPUs of its time
have, as the tables of compute capabilities say (CUDA C++ Programming Guide).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from kernelcast.simcore.device.device import Device

__all__ = ["attributes_of", "compute_capability", "properties_of"]

_COMPUTE_CAPABILITY = re.compile(r"(\d+)\.(\d+)")
_LARGEST = 2**31 - 1
_USUAL_SHARED_BYTES = 48 << 10
_SIZES = {11: 728, 12: 1032, 13: 1008}
"""Bytes of the structure by major version."""
_OFFSETS: Mapping[str, tuple[str, int, int | None]] = {
    "totalGlobalMem": ("Q", 288, 288),
    "sharedMemPerBlock": ("Q", 296, 296),
    "regsPerBlock": ("i", 304, 304),
    "warpSize": ("i", 308, 308),
    "memPitch": ("Q", 312, 312),
    "maxThreadsPerBlock": ("i", 320, 320),
    "maxThreadsDim": ("3i", 324, 324),
    "maxGridSize": ("3i", 336, 336),
    "clockRate": ("i", 348, None),
    "totalConstMem": ("Q", 352, 352),
    "major": ("i", 360, 360),
    "minor": ("i", 364, 364),
    "textureAlignment": ("Q", 368, 368),
    "texturePitchAlignment": ("Q", 376, 376),
    "deviceOverlap": ("i", 384, None),
    "multiProcessorCount": ("i", 388, 384),
    "canMapHostMemory": ("i", 400, 392),
    "concurrentKernels": ("i", 576, 560),
    "ECCEnabled": ("i", 580, 564),
    "pciBusID": ("i", 584, 568),
    "asyncEngineCount": ("i", 600, 584),
    "unifiedAddressing": ("i", 604, 588),
    "memoryClockRate": ("i", 608, None),
    "memoryBusWidth": ("i", 612, 592),
    "l2CacheSize": ("i", 616, 596),
    "maxThreadsPerMultiProcessor": ("i", 624, 604),
    "streamPrioritiesSupported": ("i", 628, 608),
    "globalL1CacheSupported": ("i", 632, 612),
    "localL1CacheSupported": ("i", 636, 616),
    "sharedMemPerMultiprocessor": ("Q", 640, 624),
    "regsPerMultiprocessor": ("i", 648, 632),
    "managedMemory": ("i", 652, 636),
    "concurrentManagedAccess": ("i", 676, 656),
    "computePreemptionSupported": ("i", 680, 660),
    "canUseHostPointerForRegisteredMem": ("i", 684, 664),
    "cooperativeLaunch": ("i", 688, 668),
    "sharedMemPerBlockOptin": ("Q", 696, 672),
    "maxBlocksPerMultiProcessor": ("i", 712, 688),
    "reservedSharedMemPerBlock": ("Q", 720, 696),
}
"""Type and offset of a field in CUDA 11 and 12, and in CUDA 13; None where it is gone."""


def compute_capability(device: Device) -> tuple[int, int]:
    """Major and minor number; those of Hopper for GPUs of other vendors."""
    found = _COMPUTE_CAPABILITY.fullmatch(device.architecture.compute_capability or "")
    return (int(found[1]), int(found[2])) if found else (9, 0)


def properties_of(device: Device, major: int) -> bytes:
    """The structure cudaDeviceProp of a major version of the runtime."""
    content = bytearray(_SIZES[major])
    name = f"{device.architecture.vendor} {device.title}".encode()[:255]
    content[: len(name)] = name
    values = _values(device)
    for field, (kind, older, newer) in _OFFSETS.items():
        offset = older if major < 13 else newer
        if offset is not None:
            value = values[field]
            items = value if isinstance(value, tuple) else (value,)
            struct.pack_into(f"<{kind}", content, offset, *items)
    return bytes(content)


def _values(device: Device) -> dict[str, int | tuple[int, ...]]:
    sm, version = device.sm, compute_capability(device)
    most_shared = sm.max_shared_bytes_per_thread_block
    clock = int(device.architecture.clock_hz / 1000)
    # The bus and its clock are not in device files: two that make the bandwidth.
    bus_bits = 512
    memory_clock = int(device.dram.bandwidth_bytes_per_s / (2 * bus_bits / 8) / 1000)
    return {
        "totalGlobalMem": int(device.dram.capacity_bytes or 0),
        "sharedMemPerBlock": min(_USUAL_SHARED_BYTES, most_shared),
        "regsPerBlock": sm.registers,
        "warpSize": device.architecture.warp_width,
        "memPitch": _LARGEST,
        "maxThreadsPerBlock": sm.max_threads_per_thread_block,
        "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (_LARGEST, 65535, 65535),
        "clockRate": clock,
        "totalConstMem": 64 << 10,
        "major": version[0],
        "minor": version[1],
        "textureAlignment": 512,
        "texturePitchAlignment": 32,
        "deviceOverlap": 1,
        "multiProcessorCount": device.architecture.sm_count,
        "canMapHostMemory": 1,
        "concurrentKernels": 1,
        "ECCEnabled": int(bool(device.dram.ecc)),
        "pciBusID": 1,
        "asyncEngineCount": 2,
        "unifiedAddressing": 1,
        "memoryClockRate": memory_clock,
        "memoryBusWidth": bus_bits,
        "l2CacheSize": int(device.l2.capacity_bytes),
        "maxThreadsPerMultiProcessor": sm.max_threads,
        "streamPrioritiesSupported": 1,
        "globalL1CacheSupported": 1,
        "localL1CacheSupported": 1,
        "sharedMemPerMultiprocessor": sm.shared_bytes,
        "regsPerMultiprocessor": sm.registers,
        "managedMemory": 1,
        "concurrentManagedAccess": 1,
        "computePreemptionSupported": 1,
        "canUseHostPointerForRegisteredMem": 1,
        "cooperativeLaunch": 1,
        "sharedMemPerBlockOptin": most_shared,
        "maxBlocksPerMultiProcessor": sm.max_thread_blocks,
        "reservedSharedMemPerBlock": sm.reserved_shared_bytes or 0,
    }


_ATTRIBUTES = {
    1: "maxThreadsPerBlock",
    8: "sharedMemPerBlock",
    9: "totalConstMem",
    10: "warpSize",
    11: "memPitch",
    12: "regsPerBlock",
    13: "clockRate",
    14: "textureAlignment",
    15: "deviceOverlap",
    16: "multiProcessorCount",
    19: "canMapHostMemory",
    31: "concurrentKernels",
    32: "ECCEnabled",
    33: "pciBusID",
    36: "memoryClockRate",
    37: "memoryBusWidth",
    38: "l2CacheSize",
    39: "maxThreadsPerMultiProcessor",
    40: "asyncEngineCount",
    41: "unifiedAddressing",
    51: "texturePitchAlignment",
    75: "major",
    76: "minor",
    78: "streamPrioritiesSupported",
    79: "globalL1CacheSupported",
    80: "localL1CacheSupported",
    81: "sharedMemPerMultiprocessor",
    82: "regsPerMultiprocessor",
    83: "managedMemory",
    89: "concurrentManagedAccess",
    90: "computePreemptionSupported",
    91: "canUseHostPointerForRegisteredMem",
    95: "cooperativeLaunch",
    97: "sharedMemPerBlockOptin",
    106: "maxBlocksPerMultiProcessor",
    111: "reservedSharedMemPerBlock",
}
_DIMENSIONS = {2: "maxThreadsDim", 5: "maxGridSize"}
"""The first of three attributes in a row."""
_TEXTURE_LIMITS = {
    21: 131072,
    22: 131072,
    23: 65536,
    24: 16384,
    25: 16384,
    26: 16384,
    27: 32768,
    28: 32768,
    29: 2048,
}
_HAS_ADDRESS_RESERVATION, _HAS_POOLS, _HAS_CLUSTERS = 102, 115, 120


def attributes_of(device: Device) -> dict[int, int]:
    """Attributes by their numbers; all others are 0."""
    values = _values(device)
    found = dict(_TEXTURE_LIMITS)
    for number, name in _ATTRIBUTES.items():
        value = values[name]
        assert isinstance(value, int)
        found[number] = value
    for first, name in _DIMENSIONS.items():
        several = values[name]
        assert isinstance(several, tuple)
        found |= {first + axis: size for axis, size in enumerate(several)}
    found[_HAS_ADDRESS_RESERVATION] = 1
    found[_HAS_POOLS] = 1
    found[_HAS_CLUSTERS] = int(compute_capability(device)[0] >= 9)
    return {number: min(value, _LARGEST) for number, value in found.items()}
