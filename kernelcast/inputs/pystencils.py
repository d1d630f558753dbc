"""GPU kernels of pystencils 2: their address expressions, and the CUDA that they generate."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernelcast.errors import InputError, LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.pystencils_addresses import read_accesses
from kernelcast.inputs.source_file import load_source
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field
from kernelcast.simcore.host.disk_cache import kept_text
from kernelcast.simcore.launch.launch import Argument

__all__ = ["PystencilsKernel", "StridedArray", "from_pystencils"]

_PRELUDE = "#include <stdint.h>\n#define RESTRICT __restrict__\n#define FUNC_PREFIX\n"
_DEFAULT_THREAD_BLOCK = (128, 2, 1)
"""What pystencils launches by default (`GpuOptions.default_block_size` in three dimensions)."""


class StridedArray(Protocol):
    """What of an array of NumPy or CuPy is needed: strides are in bytes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in elements."""

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes."""


@dataclass(frozen=True)
class PystencilsKernel:
    """`address_kernel` came from the syntax tree, `source` is the CUDA C++ that pystencils wrote.

    `parameters`: what the generated function takes, a field's name or a number, in order.
    """

    address_kernel: AddressKernel
    source: str
    name: str
    parameters: tuple[tuple[str, str | int | None], ...]

    def compiled(self, arch: str = "") -> RunnableKernel:
        """The generated CUDA as PTX by NVRTC; InputError without it."""
        text = f'{_PRELUDE}extern "C" {self.source}'
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        try:
            file = kept_text(f"pystencils-{self.name}-{digest}.cu", text)
        except OSError as error:
            raise InputError(f"cannot keep the CUDA of {self.name}: {error.strerror}") from None
        return load_source(file, CompilerOptions(arch))[self.name]

    def arguments(self, values: Mapping[str, Argument]) -> list[Argument]:
        """Arguments in the order of the generated function.

        Arrays are given by field names, scalars by their own. LaunchError for what is missing.
        """
        found: list[Argument] = []
        for parameter, value in self.parameters:
            name = value if isinstance(value, str) else parameter
            if isinstance(value, int):
                found.append(value)
            elif name in values:
                found.append(values[name])
            else:
                raise LaunchError(f"{self.name}: no value is given for {name}")
        return found

    def run(
        self,
        values: Mapping[str, Argument],
        *,
        block: Sequence[int] | None = None,
        arch: str = "",
        **options: Any,
    ) -> KernelTrace:
        """Executes one launch over the domain.

        `values` as `arguments`, `options` as `RunnableKernel.run` has. Arrays must be C-contiguous.
        """
        chosen = self.address_kernel
        if block is not None:
            chosen = chosen.with_block(*block)
        return self.compiled(arch).run(
            grid=chosen.grid,
            block=chosen.block,
            args=self.arguments(values),
            argument_names=[name for name, _ in self.parameters],
            **options,
        )


def from_pystencils(
    kernel: Any,
    arrays: Mapping[str, StridedArray] | None = None,
    *,
    block: Sequence[int] = _DEFAULT_THREAD_BLOCK,
    folding: Sequence[int] = (1, 1, 1),
    registers: int | None = None,
    flops: float | None = None,
    base_alignment_bytes: int = 0,
) -> PystencilsKernel:
    """Reads a kernel that `pystencils.create_kernel` made for `Target.CUDA`.

    `arrays`, by the names of fields, give the sizes of fields that were declared without any
    (`double[3D]`); nothing is read from them. `flops` of a cell are counted in the kernel when
    they are not given. InputError, in one line, for kernels that are not made for a GPU, whose
    threads do not each update one cell, or whose sizes are not known.
    """
    if getattr(getattr(kernel, "target", None), "name", "") not in ("CUDA", "HIP"):
        raise InputError("from_pystencils takes a kernel that create_kernel made for Target.CUDA")
    parameters = [_parameter(item, arrays or {}) for item in kernel.parameters]
    fields = dict(item for item in map(_field, kernel.parameters) if item is not None)
    sizes = {name: value for name, value in parameters if isinstance(value, int)}
    found = read_accesses(kernel.body, sizes)
    wide = {name: known.element_bytes for name, known in fields.items()}
    loads, stores = (
        [Access(fields[name].name, index * wide[name], wide[name]) for name, index in accesses]
        for accesses in (found.loads, found.stores)
    )
    domain = [found.domain.get(axis, 1) for axis in "xyz"]
    described = AddressKernel(
        [_aligned(item, base_alignment_bytes) for item in fields.values()],
        loads,
        stores,
        tuple(domain),
        tuple(block),
        tuple(folding),
        flops=found.flops if flops is None else flops,
        registers=registers,
        name=kernel.name,
    )
    return PystencilsKernel(described, kernel.get_c_code(), kernel.name, tuple(parameters))


def _parameter(parameter: Any, arrays: Mapping[str, StridedArray]) -> tuple[str, str | int | None]:
    """A field's name for a pointer, a number for a size of a field, None for other scalars."""
    for item in parameter.properties:
        match type(item).__name__:
            case "FieldBasePtr":
                return parameter.name, str(item.field.name)
            case "FieldShape":
                return parameter.name, _array(item.field, arrays).shape[item.coordinate]
            case "FieldStride":
                strides = _array(item.field, arrays).strides
                return parameter.name, strides[item.coordinate] // item.field.dtype.itemsize
    return parameter.name, None


def _array(field: Any, arrays: Mapping[str, StridedArray]) -> StridedArray:
    if field.name not in arrays:
        raise InputError(
            f"field {field.name} has no sizes of its own: give an array of that name in `arrays`"
        )
    return arrays[field.name]


def _field(parameter: Any) -> tuple[str, Field] | None:
    for item in parameter.properties:
        if type(item).__name__ == "FieldBasePtr":
            return parameter.name, Field(item.field.name, item.field.dtype.itemsize)
    return None


def _aligned(field: Field, alignment: int) -> Field:
    return Field(field.name, field.element_bytes, base_alignment_bytes=alignment)
