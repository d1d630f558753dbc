"""Code objects of AMD's GPUs: ELF files with metadata of their kernels, and bundles of them.

Formats: LLVM's AMDGPU usage guide, "Code Object V5 Metadata", and clang's "Clang Offload Bundler".
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.amdgcn.message_pack import unpacked
from kernelcast.ptx_frontend.sass.container.elf import DAMAGED, machine_of, open_elf

__all__ = [
    "ArgumentMetadata",
    "CodeObject",
    "KernelMetadata",
    "bundled",
    "is_amd_elf",
    "is_bundle",
    "read_code_object",
]

_MACHINE = 224
"""EM_AMDGPU."""
_METADATA_NOTE = 32
"""NT_AMDGPU_METADATA."""
_BUNDLE, _COMPRESSED = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"
_MOST_ENTRIES = 1000
_TARGET = re.compile(r"gfx[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class ArgumentMetadata:
    """One argument at byte `offset`; `kind` is `by_value`, `global_buffer` or their like."""

    name: str
    offset: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """Resources of a kernel: registers a lane and a wavefront, bytes a work-group and a work-item.

    `vector_registers` are all that a lane is given, accumulation registers among them where the
    architecture has one file for both.
    """

    name: str
    vector_registers: int
    scalar_registers: int
    accumulation_registers: int
    shared_bytes: int
    scratch_bytes: int
    wavefront: int
    argument_bytes: int
    spilled_vector_registers: int = 0
    spilled_scalar_registers: int = 0
    arguments: tuple[ArgumentMetadata, ...] = ()
    """The arguments that the source declares."""
    required_threads: tuple[int, int, int] | None = None

    @property
    def lane_registers(self) -> int:
        """What limits occupancy: the larger part where accumulation registers are a file apart."""
        return max(self.vector_registers, self.accumulation_registers)


@dataclass(frozen=True, slots=True)
class CodeObject:
    """`architecture` is `gfx90a` or its like; `version` that of the metadata."""

    architecture: str
    kernels: tuple[KernelMetadata, ...]
    version: tuple[int, ...] = ()

    def kernel(self, name: str) -> KernelMetadata:
        """The kernel of that name; InputError when there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise InputError(f"the code object has no kernel {name!r}")


def is_amd_elf(beginning: bytes) -> bool:
    """Whether an ELF file that begins so, by 20 bytes or more, is for AMD's GPUs."""
    return machine_of(beginning) == _MACHINE


def is_bundle(beginning: bytes) -> bool:
    """Whether a file that begins so is a bundle of code objects for several targets."""
    return beginning.startswith((_BUNDLE, _COMPRESSED))


def bundled(content: bytes) -> dict[str, bytes]:
    """The code objects of a bundle by the architecture that each is for.

    InputError when it is damaged, or compressed.
    """
    if content.startswith(_COMPRESSED):
        raise InputError("the bundle is compressed: clang-offload-bundler takes it apart")
    found: dict[str, bytes] = {}
    try:
        (count,) = struct.unpack_from("<Q", content, len(_BUNDLE))
        position = len(_BUNDLE) + 8
        if count > _MOST_ENTRIES:
            raise InputError(f"the bundle is damaged: {count} entries")
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", content, position)
            target = content[position + 24 : position + 24 + length].decode("ascii", "replace")
            position += 24 + length
            if offset + size > len(content):
                raise InputError("the bundle is damaged: it ends too early")
            named = _TARGET.search(target)
            if named is not None:
                found[named[0]] = content[offset : offset + size]
    except struct.error:
        raise InputError("the bundle is damaged: it ends too early") from None
    return found


def read_code_object(content: bytes) -> CodeObject:
    """What a code object says of its kernels; InputError when it cannot be read."""
    try:
        for description in _notes(io.BytesIO(content)):
            metadata: Any = unpacked(description)
            target = _TARGET.search(str(metadata["amdhsa.target"]))
            if target is None:
                raise InputError(f"the code object is for {metadata['amdhsa.target']!r}")
            kernels = tuple(_kernel(entry) for entry in metadata.get("amdhsa.kernels", ()))
            version = tuple(int(number) for number in metadata.get("amdhsa.version", ()))
            return CodeObject(target[0], kernels, version)
    except DAMAGED as error:
        raise InputError(f"the code object is damaged: {error}") from None
    raise InputError("the code object has no metadata: it is older than version 3 (2018)")


def _notes(file: io.BytesIO) -> Iterator[bytes]:
    """What the notes of metadata hold."""
    for section in open_elf(file).iter_sections():
        if section["sh_type"] != "SHT_NOTE":
            continue
        data, position = section.data(), 0
        while position + 12 <= len(data):
            name_size, size, kind = struct.unpack_from("<III", data, position)
            start = position + 12 + _rounded(name_size)
            if kind == _METADATA_NOTE:
                yield data[start : start + size]
            position = start + _rounded(size)


def _rounded(size: int) -> int:
    return -(-size // 4) * 4


def _kernel(entry: Any) -> KernelMetadata:
    return KernelMetadata(
        name=str(entry[".name"]),
        vector_registers=int(entry[".vgpr_count"]),
        scalar_registers=int(entry[".sgpr_count"]),
        accumulation_registers=int(entry.get(".agpr_count", 0)),
        shared_bytes=int(entry[".group_segment_fixed_size"]),
        scratch_bytes=int(entry[".private_segment_fixed_size"]),
        wavefront=int(entry[".wavefront_size"]),
        argument_bytes=int(entry[".kernarg_segment_size"]),
        spilled_vector_registers=int(entry.get(".vgpr_spill_count", 0)),
        spilled_scalar_registers=int(entry.get(".sgpr_spill_count", 0)),
        arguments=tuple(_arguments(entry.get(".args", ()))),
        required_threads=_sizes(entry.get(".reqd_workgroup_size")),
    )


def _arguments(entries: Any) -> Iterator[ArgumentMetadata]:
    for number, entry in enumerate(entries):
        kind = str(entry[".value_kind"])
        if not kind.startswith("hidden_"):
            name = str(entry.get(".name", f"param_{number}"))
            yield ArgumentMetadata(name, int(entry[".offset"]), int(entry[".size"]), kind)


def _sizes(given: Any) -> tuple[int, int, int] | None:
    if given is None:
        return None
    x, y, z = (int(size) for size in given)
    return x, y, z
