"""What the pointers among a kernel's parameters point to, as names of C, OpenCL or Triton."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["part_bytes", "with_elements", "without_qualifiers"]

_NAMES = {
    2: "short, ushort, unsigned short, int16_t, uint16_t, half, __half, _Float16, __nv_bfloat16, "
    "fp16, bf16, i16, u16",
    4: "int, uint, unsigned, unsigned int, int32_t, uint32_t, float, fp32, i32, u32",
    8: "double, long long, longlong, unsigned long long, ulonglong, int64_t, uint64_t, fp64, i64, "
    "u64",
}
_BYTES = {name: width for width, names in _NAMES.items() for name in names.split(", ")}
_VECTOR = re.compile(r"(?P<part>[a-z_]*[a-z])(?P<count>2|3|4|8|16)$")
_QUALIFIER = re.compile(
    r"\b(?:const|volatile|restrict|__restrict__|__restrict|__global|__constant|global|constant)\b"
)


def part_bytes(element: str) -> tuple[int, ...]:
    """The bytes of the elements of an array for such pointers: of one part, and of all parts.

    `float` -> (4,); `float4` -> (4, 16). Empty for what may be anything: structs, `char`, `void`,
    and `long`, which has 4 bytes on some systems.
    """
    if element in _BYTES:
        return (_BYTES[element],)
    vector = _VECTOR.match(element)
    if vector is None or vector["part"] not in _BYTES:
        return ()
    width = _BYTES[vector["part"]]
    return width, width * int(vector["count"])


def without_qualifiers(name: str) -> str:
    """`const float __restrict__` -> `float`."""
    return " ".join(_QUALIFIER.sub(" ", name).split())


def with_elements(module: Module, elements: Mapping[str, Sequence[str]]) -> Module:
    """The module with what is known of its kernels' pointers, by the kernel's name."""
    return replace(
        module,
        kernels={
            name: _told(kernel, elements.get(name, ())) for name, kernel in module.kernels.items()
        },
    )


def _told(kernel: Kernel, elements: Sequence[str]) -> Kernel:
    """Compilers add parameters behind those of the source only; a longer list says nothing."""
    if not elements or len(elements) > len(kernel.parameters):
        return kernel
    told = tuple(
        replace(parameter, element=element)
        for parameter, element in zip(kernel.parameters, elements, strict=False)
    )
    return replace(kernel, parameters=(*told, *kernel.parameters[len(told) :]))
