"""What is refused because it is too large: every limit with its reason, and the memory there is.

docs/limits.md has the same limits for users. How long a run may take is `Limits`, see `deadline`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kernelcast.errors import InputError, LaunchError

__all__ = [
    "MOST_ALIGNMENT",
    "MOST_BASIC_BLOCKS",
    "MOST_DIMENSIONS",
    "MOST_EXPRESSION_CHARACTERS",
    "MOST_EXPRESSION_DEPTH",
    "MOST_FIELD_WIDTH",
    "MOST_KERNEL_INSTRUCTIONS",
    "MOST_LOCAL_BYTES_PER_THREAD",
    "MOST_NATIVE_INSTRUCTIONS",
    "MOST_NESTED_BLOCKS",
    "MOST_PREFETCHED_BYTES",
    "MOST_PRINTED_CHARACTERS",
    "MOST_SHARED_BYTES",
    "MOST_SOURCE_BYTES",
    "MOST_STRING_BYTES",
    "MOST_WARPS",
    "available_memory_bytes",
    "check_room",
    "check_source",
    "check_warps",
    "kernel_excess",
]

MOST_SHARED_BYTES = 227 * 1024
"""The most bytes per thread block of any compute capability (CUDA C Programming Guide, 9.0)."""

MOST_PREFETCHED_BYTES = 1 << 26
"""The most bytes that one instruction may prefetch; no GPU has an L2 for so many."""

MOST_LOCAL_BYTES_PER_THREAD = 512 * 1024
"""The most bytes of local memory per thread of every compute capability (CUDA C Programming Guide,
table of technical specifications: maximum amount of local memory per thread)."""

MOST_ALIGNMENT = 1 << 16
"""Bytes, of a variable. Tensor maps and descriptors of matrices need 1024."""

MOST_FIELD_WIDTH = 4095
"""Characters of one conversion of printf: what C guarantees (C17 7.21.6.1)."""

MOST_PRINTED_CHARACTERS = 1 << 28
"""The most that a launch prints, which is kept until it ends. A GPU keeps 1 MiB."""

MOST_STRING_BYTES = 1 << 20
"""The most bytes of a text that a kernel gives to printf."""

MOST_DIMENSIONS = 64
"""The most dimensions of a buffer: those of a NumPy array."""

MOST_EXPRESSION_CHARACTERS = 10_000
MOST_EXPRESSION_DEPTH = 100
"""The most operators within operators of an expression in a workload file, far below Python's own
limits, so that what it says never depends on how deep its caller is."""

MOST_WARPS = 1 << 27
"""The most warps of a launch that is executed, or counted by a slice: a trace counts each warp."""

MOST_NESTED_BLOCKS = 1 << 20
"""The most basic blocks of all loops of a kernel: more take longer than seconds to look at."""

MOST_NATIVE_INSTRUCTIONS = 30_000
"""The most instructions of a kernel that the JIT engine compiles: LLVM would take minutes, and
gigabytes, for more. The reference engine runs it."""

MOST_KERNEL_INSTRUCTIONS = 1 << 16
"""The most instructions of a kernel with the functions inlined into it.

Twice the longest one known, and read and analysed within seconds."""

MOST_BASIC_BLOCKS = 1 << 15
"""The most basic blocks of a kernel, for the same reason; some analyses compare them in pairs."""

MOST_SOURCE_BYTES = 1 << 25
"""The most bytes of a file of PTX, LLVM IR or SPIR-V: reading takes a hundred times the memory."""

_MEMORY_VARIABLE = "KERNELCAST_MEMORY"
_INSTRUCTIONS_VARIABLE = "KERNELCAST_INSTRUCTIONS"
_SMALLEST_CHECKED = 1 << 26
_MEMORY_INFO = Path("/proc/meminfo")
_MEMORY_OF_PROCESS = Path("/proc/self/statm")
_CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory_bytes() -> int | None:
    """The bytes that a launch may take; None where nothing tells.

    KERNELCAST_MEMORY says how many, or else what the machine, and the container that this process
    is in, have left.
    """
    given = os.environ.get(_MEMORY_VARIABLE, "")
    if given.isdecimal():
        return int(given)
    known = [size for size in (_of_machine(), _of_container(), _of_process()) if size is not None]
    return min(known, default=None)


def check_room(needed_bytes: int, what: str) -> None:
    """Raises LaunchError when `what` needs more memory than is left."""
    if needed_bytes < _SMALLEST_CHECKED:
        return
    room = available_memory_bytes()
    if room is not None and needed_bytes > room:
        raise LaunchError(
            f"no memory for {what}: {_size(needed_bytes)} of {_size(room)} that are left "
            f"({_MEMORY_VARIABLE} in bytes raises the limit)"
        )


def check_source(size: int, path: str) -> None:
    """Raises InputError for a text that would take too much memory to read; `path` is its name."""
    if size > MOST_SOURCE_BYTES:
        raise InputError(
            f"{path} has more than {_size(MOST_SOURCE_BYTES)}: give each kernel a file of its own"
        )


def kernel_excess(instructions: int, basic_blocks: int) -> str:
    """Half a sentence about what a kernel has too many of; empty where it is short enough.

    KERNELCAST_INSTRUCTIONS raises the limit of instructions, and that of basic blocks as much.
    """
    if instructions <= MOST_KERNEL_INSTRUCTIONS and basic_blocks <= MOST_BASIC_BLOCKS:
        return ""  # the usual case, asked at every instruction
    given = os.environ.get(_INSTRUCTIONS_VARIABLE, "")
    most = int(given) if given.isdecimal() else MOST_KERNEL_INSTRUCTIONS
    most_blocks = max(MOST_BASIC_BLOCKS, most * MOST_BASIC_BLOCKS // MOST_KERNEL_INSTRUCTIONS)
    if instructions <= most and basic_blocks <= most_blocks:
        return ""
    what = f"{most:,} instructions" if instructions > most else f"{most_blocks:,} basic blocks"
    return f"more than {what} in a kernel ({_INSTRUCTIONS_VARIABLE} raises the limit)"


def check_warps(count: int) -> None:
    """Raises LaunchError for more warps than a trace can tell apart."""
    if count > MOST_WARPS:
        raise LaunchError(
            f"a launch of {count:,} warps: no more than {MOST_WARPS:,} are executed, "
            "choose a smaller grid"
        )


def _of_machine() -> int | None:
    try:
        lines = _MEMORY_INFO.read_text().splitlines()
    except OSError:
        return _physical()
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return int(found[0][1]) * 1024 if found else _physical()


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    """None where control groups of version 2 set no limit."""
    try:
        most = (_CONTROL_GROUP / "memory.max").read_text().strip()
        taken = (_CONTROL_GROUP / "memory.current").read_text().strip()
    except OSError:
        return None
    return max(0, int(most) - int(taken)) if most.isdecimal() else None


def _of_process() -> int | None:
    """What `ulimit -v` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(_MEMORY_OF_PROCESS.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        taken = 0
    return max(0, most - taken)


def _size(size: int) -> str:
    """The size in the largest unit of which there is at least one."""
    for exponent, unit in ((60, "EiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >> exponent:
            return f"{size / (1 << exponent):.4g} {unit}"
    return f"{size} bytes"
