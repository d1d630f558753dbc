"""A launch whose numbers and pointers come as one block of bytes, as a driver gets them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelcast.errors import LaunchError
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.launch import Argument, Launch

__all__ = ["check_block", "replaceable_ranges", "with_parameters"]

_REPLACEABLE = (int, float, bytes, np.generic, Allocation)


def replaceable_ranges(kernel: Kernel, launch: Launch) -> list[tuple[int, int]]:
    """The bytes [first, end) of each parameter that a block gives: numbers, pointers and structs.

    Arrays, textures, images, samplers, tensor maps and `__local` arrays stay what they are.
    """
    pairs = zip(launch.arguments, kernel.parameters, strict=True)
    return [(p.offset, p.offset + p.size) for a, p in pairs if _is_replaceable(a, p)]


def check_block(kernel: Kernel, block: bytes) -> None:
    """Raises LaunchError for a block of another size than the kernel takes."""
    size = max((p.offset + p.size for p in kernel.parameters), default=0)
    if len(block) != size:
        raise LaunchError(
            f"a block of {len(block)} bytes of parameters, kernel {kernel.name} takes {size}"
        )


def with_parameters(kernel: Kernel, launch: Launch, block: bytes) -> Launch:
    """The launch with the numbers, pointers and structs of a block.

    Its bytes at the places of other arguments do not matter. LaunchError for a block of another
    size.
    """
    check_block(kernel, block)
    pairs = zip(launch.arguments, kernel.parameters, strict=True)
    arguments = tuple(
        _argument(parameter, block) if _is_replaceable(argument, parameter) else argument
        for argument, parameter in pairs
    )
    return replace(launch, arguments=arguments)


def _is_replaceable(argument: Argument, parameter: Parameter) -> bool:
    is_opaque = parameter.is_local_array or parameter.is_opaque
    return isinstance(argument, _REPLACEABLE) and not is_opaque


def _argument(parameter: Parameter, block: bytes) -> Argument:
    content = block[parameter.offset : parameter.offset + parameter.size]
    if parameter.is_struct or parameter.type.is_float:
        return content
    return int.from_bytes(content, "little")
