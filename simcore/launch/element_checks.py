"""Arrays whose elements are not those that a kernel's pointer is for.

What a source declares is as binding as for a C compiler: elements of another size are an error.
Arrays of bytes, of structs and of equally wide elements pass, for their bits may be meant. PTX
declares nothing: an array of floats of one width whose pointer is used for those of another width
only is most likely a mistake, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelcast.errors import ElementWarning, LaunchError
from kernelcast.simcore.isa.analysis.parameter_accesses import parameter_accesses
from kernelcast.simcore.isa.ir.element_types import part_bytes
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.ir.source_names import elements_of_symbol
from kernelcast.simcore.isa.types import Kind, ScalarType
from kernelcast.simcore.launch.launch import Launch, LazyBuffer

__all__ = ["check_elements"]

_NUMBERS = "fiuc"


def check_elements(kernel: Kernel, launch: Launch) -> None:
    """Raises LaunchError for an array of other elements than declared; warns where PTX tells."""
    if len(launch.arguments) != len(kernel.parameters):
        return  # the check of the launch says so
    arrays = {
        position: value.dtype
        for position, value in enumerate(launch.arguments)
        if isinstance(value, (np.ndarray, LazyBuffer))
    }
    declared = _declared(kernel)
    for position, dtype in arrays.items():
        element = declared[position]
        fitting = part_bytes(element)
        if fitting and not _fits(dtype, fitting):
            raise LaunchError(
                f"{_where(kernel, launch, position)} is an array of {dtype}, the kernel takes "
                f"{element}*: {_remedy(element, fitting[0])}"
            )
    if kernel.machine is not None:
        return  # loads of machine code have a width and no type
    for position, type_ in _contradicting(kernel, arrays):
        if not part_bytes(declared[position]):
            warnings.warn(
                f"{_where(kernel, launch, position)} is an array of {arrays[position]}, which "
                f"kernel {kernel.name} reads and writes as {type_.ptx_name} only",
                ElementWarning,
                stacklevel=4,
            )


def _declared(kernel: Kernel) -> tuple[str, ...]:
    told = elements_of_symbol(kernel.name)
    if len(told) != len(kernel.parameters):
        told = ("",) * len(kernel.parameters)
    pairs = zip(kernel.parameters, told, strict=True)
    return tuple(parameter.element or name for parameter, name in pairs)


def _where(kernel: Kernel, launch: Launch, position: int) -> str:
    name = launch.argument_name(position, kernel.parameters[position])
    return f"argument {position + 1} ({name})"


def _fits(dtype: np.dtype[Any], fitting: tuple[int, ...]) -> bool:
    """Bytes and structs may hold anything; complex numbers are pairs."""
    if dtype.kind not in _NUMBERS or dtype.itemsize == 1:
        return True
    is_pair = dtype.kind == "c" and dtype.itemsize // 2 in fitting
    return is_pair or dtype.itemsize in fitting


def _remedy(element: str, width: int) -> str:
    kind = "float" if "float" in element or element in ("double", "fp32", "fp64") else "int"
    kind = "uint" if element.startswith("u") else kind
    name = f"np.{kind}{8 * width}"
    return f"astype({name}) converts it, view({name}) passes its bytes as they are"


def _contradicting(
    kernel: Kernel, arrays: dict[int, np.dtype[Any]]
) -> Iterator[tuple[int, ScalarType]]:
    """Arrays of floats all of whose accesses are of one other type of floats."""
    floats = {position: dtype for position, dtype in arrays.items() if dtype.kind == "f"}
    if not floats:
        return
    accesses = parameter_accesses(kernel)
    found: dict[int, set[ScalarType]] = {}
    unclear = set(accesses.escaped)
    for parameters, types in accesses.types.items():
        pointers = parameters & arrays.keys()
        if len(pointers) > 1:
            unclear |= pointers
        for position in pointers:
            found.setdefault(position, set()).update(types)
    for position, seen in sorted(found.items()):
        if position not in floats.keys() - unclear or len(seen) > 1:
            continue
        (type_,) = seen
        if type_.kind is Kind.FLOAT and type_.bits != 8 * floats[position].itemsize:
            yield position, type_
