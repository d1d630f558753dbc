"""Arrays in local memory that a launch gives the sizes of: `__local` arguments of OpenCL.

Code for AMD's GPUs gets the place of one in local memory as a word, where its metadata says
(LLVM's AMDGPU usage guide, "dynamic_shared_pointer").
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["with_places"]


def with_places(kernel: Kernel, metadata: KernelMetadata) -> Kernel:
    """The kernel with its parameters where the machine code has them; as it is without arrays."""
    if not any(parameter.is_local_array for parameter in kernel.parameters):
        return kernel
    placed = tuple(
        replace(
            parameter,
            offset=told.offset,
            size=told.size,
            type=ScalarType.U32 if parameter.is_local_array else parameter.type,
        )
        for parameter, told in zip(kernel.parameters, metadata.arguments, strict=True)
    )
    return replace(kernel, parameters=placed)
