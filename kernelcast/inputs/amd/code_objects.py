"""Files of AMD's machine code: code objects, and bundles of them for several GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelcast.errors import InputError, KernelcastError, nearest
from kernelcast.execution.code import AMD_EXECUTED, NativeSource
from kernelcast.execution.runnable import LoadedModule
from kernelcast.ptx_frontend.amdgcn.code_image import CodeImage, KernelCode, Variable, read_image
from kernelcast.ptx_frontend.amdgcn.code_object import (
    ArgumentMetadata,
    bundled,
    is_bundle,
    read_code_object,
)
from kernelcast.ptx_frontend.amdgcn.disassembly import LABEL, assembly_text
from kernelcast.ptx_frontend.amdgcn.lowering.generations import is_rdna
from kernelcast.ptx_frontend.amdgcn.lowering.kernel import lowered_kernel
from kernelcast.ptx_frontend.amdgcn.text import read_kernel
from kernelcast.simcore.host.amd_disassembly import Disassembled, disassembled
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.isa.ir.parameters import Parameter, Symbol
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["CodeObjects", "load_code_objects", "module_of_image"]

_MOST_NAMES = 5
_TYPES = {1: ScalarType.B8, 2: ScalarType.B16, 4: ScalarType.B32, 8: ScalarType.B64}
_BY_VALUE, _LOCAL_ARRAY = "by_value", "dynamic_shared_pointer"
_KINDS = (_BY_VALUE, "global_buffer", _LOCAL_ARRAY)
_ALIGNED = 16


@dataclass(frozen=True)
class CodeObjects(NativeSource):
    """Machine code of the same kernels by architecture; `path` stands in messages."""

    makes_amd_code = True
    path: str
    objects: Mapping[str, bytes]
    modules: dict[str, Module] = field(default_factory=dict)
    """What was read so far, by architecture."""

    def kernel(self, name: str, _architecture: int) -> Kernel:
        """Refuses NVIDIA's architectures: the code is for AMD's."""
        raise InputError(f"{self.path}: {name} is machine code for AMD's GPUs")

    def amd_kernel(self, name: str, architecture: str) -> Kernel:
        """The kernel for an architecture that there is code for."""
        if architecture not in self.objects:
            known = ", ".join(self.objects)
            raise InputError(f"{self.path}: there is code for {known}, not for {architecture}")
        module = self.module(architecture)
        for reason in module.rejected.get(name, ()):
            raise reason
        if name not in module.kernels:
            raise InputError(f"{self.path}: no kernel {name!r} for {architecture}")
        return module.kernels[name]

    def module(self, architecture: str) -> Module:
        """All kernels for an architecture; InputError where the code is damaged."""
        if architecture not in self.modules:
            self.modules[architecture] = _module(self.objects[architecture], self.path)
        return self.modules[architecture]


def load_code_objects(content: bytes, path: str, architecture: str = "") -> LoadedModule:
    """The kernels of a file, those for the newest architecture that is executed, or a given one.

    InputError where it cannot be read, or holds no code that is executed.
    """
    objects = _objects(content, path)
    executed = [name for name in sorted(objects) if name in AMD_EXECUTED]
    if architecture and architecture not in objects:
        known = ", ".join(objects) or "no GPU"
        close = nearest(architecture, list(objects))
        raise InputError(f"{path}: there is code for {known}, not for {architecture}{close}")
    if not executed or (architecture and architecture not in executed):
        raise InputError(f"{path}: {_contents(objects)}")
    native = CodeObjects(path, objects)
    return LoadedModule(native.module(architecture or executed[-1]), native=native)


def _objects(content: bytes, path: str) -> dict[str, bytes]:
    try:
        if is_bundle(content):
            return bundled(content)
        return {read_code_object(content).architecture: content}
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from None


def _contents(objects: Mapping[str, bytes]) -> str:
    """What a file holds that is not executed."""
    read = [read_code_object(part) for part in objects.values()]
    kernels = list(dict.fromkeys(kernel.name for item in read for kernel in item.kernels))
    shown = ", ".join(kernels[:_MOST_NAMES]) + (", ..." if len(kernels) > _MOST_NAMES else "")
    architectures = ", ".join(dict.fromkeys(item.architecture for item in read)) or "no GPU"
    executed = ", ".join(AMD_EXECUTED)
    return (
        f"machine code for AMD's {architectures}, with the kernels {shown or '(none)'}: only "
        f"that of {executed} is executed; give the HIP source, or LLVM IR (--save-temps of hipcc)"
    )


def _module(content: bytes, path: str) -> Module:
    try:
        image = read_image(content)
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from None
    codes = [(code.address, code.content) for code in image.kernels.values()]
    return module_of_image(image, disassembled(codes, image.architecture), path)


def module_of_image(image: CodeImage, parts: Sequence[Sequence[Disassembled]], path: str) -> Module:
    """The kernels of a code object, `parts` their instructions, and why others cannot run."""
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for code, lines in zip(image.kernels.values(), parts, strict=True):
        where = f"{path} [{image.architecture} code of {code.name}]"
        try:
            text, variables = assembly_text(code, lines, image)
            source = _declared(code, image, variables)
            kernels[code.name] = lowered_kernel(
                read_kernel(text, LABEL, where), source, code.metadata, image.architecture
            )
        except KernelcastError as error:
            rejected[code.name] = (error,)
    return Module(path, kernels, rejected)


def _declared(code: KernelCode, image: CodeImage, variables: Mapping[str, Variable]) -> Kernel:
    """The kernel as its metadata describes it, without instructions."""
    metadata = code.metadata
    if is_rdna(image.architecture) and not code.settings["wavefront_size32"]:
        raise InputError(f"{code.name} is for wavefronts of 64 lanes")
    return Kernel(
        name=code.name,
        blocks=(),
        registers=(),
        parameters=tuple(map(_parameter, metadata.arguments)),
        symbols={name: _symbol(variable) for name, variable in variables.items()},
        shared_bytes=metadata.shared_bytes,
        local_bytes=metadata.scratch_bytes,
        target=image.architecture,
        required_threads=metadata.required_threads,
        uses_dynamic_shared=True,
    )


def _parameter(told: ArgumentMetadata) -> Parameter:
    if told.kind not in _KINDS:
        raise InputError(f"the argument {told.name} is a {told.kind.replace('_', ' ')}")
    type_ = _TYPES.get(told.size, ScalarType.B8)
    is_local_array = told.kind == _LOCAL_ARRAY
    is_pointer = told.kind != _BY_VALUE and not is_local_array
    is_struct = told.size not in _TYPES
    return Parameter(
        told.name, type_, told.offset, told.size, is_struct, is_pointer, is_local_array
    )


def _symbol(told: Variable) -> Symbol:
    return Symbol(told.name, AddressSpace.GLOBAL, told.size, _ALIGNED, 0, told.content)
