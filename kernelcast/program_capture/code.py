"""The code of a program: its modules, kernels and variables."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.errors import KernelcastError, LaunchError, SourceError
from kernelcast.execution.code import Code, planned
from kernelcast.execution.runnable import LoadedModule, RunnableKernel
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.fat_binary import CodeKind, code_entries, is_fat_binary
from kernelcast.inputs.llvm_ir import is_bitcode, is_spirv
from kernelcast.inputs.source_file import load_source
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.properties import compute_capability
from kernelcast.program_capture.protocol import Status, packed
from kernelcast.program_capture.units import DEVICE_RUNTIME, linked_units, newest_ptx
from kernelcast.program_capture.unused_variables import kernel_with_variable
from kernelcast.ptx_frontend.sass.container.elf import is_elf
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.register_estimate import estimated_registers
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.module_memory import ModuleMemory

__all__ = ["Function", "ProgramCode"]

_USUAL_SHARED_BYTES = 48 << 10
_PTX_VERSION = 80


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel that the program asked for; `module` counts its modules."""

    number: int
    module: int
    kernel: RunnableKernel
    file: Path
    architecture: str = ""
    """What was taken of a file with code for several."""
    attributes: dict[int, int] = field(default_factory=dict)
    """What the program set, by the numbers of CUfunction_attribute."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A module, the file of its image, and what was taken of it."""

    module: LoadedModule
    file: Path
    options: CompilerOptions


class ProgramCode:
    """The modules of one program, in the memory of its launches."""

    def __init__(
        self,
        folder: Path,
        device: Device,
        code: Code,
        memory: DeviceMemory,
        tell: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._folder = folder
        self._device = device
        self._code = code
        self._memory = memory
        self._modules: dict[int, _Loaded] = {}
        self._functions: dict[int, Function] = {}
        self._numbers: dict[tuple[int, str], int] = {}
        self._count = 0

    def load(self, image: bytes) -> int:
        """The number of a module; CallError when the image has no code that runs."""
        self._count += 1
        file = self._folder / f"module-{self._count}{_suffix(image)}"
        file.write_bytes(image)
        try:
            options = self._options(image, file)
            self._modules[self._count] = _Loaded(load_source(file, options), file, options)
        except SourceError as error:
            raise CallError(Status.INVALID_PTX, str(error)) from None
        except KernelcastError as error:
            raise CallError(Status.INVALID_IMAGE, str(error)) from None
        return self._count

    def load_units(self, units: Sequence[bytes], image: bytes) -> int:
        """The number of a module of units that were compiled apart, and were linked to `image`.

        Their PTX is linked where each has some; else the image is taken. CallError as of `load`.
        """
        try:
            text = linked_units(units, _version(self._device))
        except SourceError as error:
            raise CallError(Status.INVALID_PTX, str(error)) from None
        except KernelcastError as error:
            raise CallError(Status.INVALID_IMAGE, str(error)) from None
        return self.load(text.encode() if text else image)

    def unload(self, number: int) -> None:
        """Frees the variables of a module."""
        self._loaded(number).module.unload(self._memory)
        del self._modules[number]

    def unload_variables(self) -> None:
        """Frees the variables of all modules: their next use begins with the initial contents."""
        for loaded in self._modules.values():
            loaded.module.unload(self._memory)

    def kernel_names(self, module: int) -> tuple[str, ...]:
        """The kernels of a module, those that cannot run too."""
        found = self._loaded(module).module.module
        return (*found.kernels, *found.rejected)

    def function(self, module: int, name: str) -> Function:
        """A kernel by its symbol; CallError with the reason when it cannot run."""
        known = self._numbers.get((module, name))
        if known is not None:
            return self._functions[known]
        loaded = self._loaded(module)
        try:
            kernel = loaded.module[name]
        except LaunchError as error:
            raise CallError(Status.NOT_FOUND, str(error)) from None
        except KernelcastError as error:
            if DEVICE_RUNTIME in str(error):
                text = (
                    f"{name} launches kernels itself (dynamic parallelism), which is not supported"
                )
                raise CallError(Status.NOT_SUPPORTED, text) from None
            raise CallError(Status.NO_CODE_FOR_DEVICE, str(error)) from None
        number = len(self._functions) + 1
        self._functions[number] = Function(
            number, module, kernel, loaded.file, loaded.options.architecture
        )
        self._numbers[module, name] = number
        return self._functions[number]

    def of_number(self, number: int) -> Function:
        """A kernel that was asked for before."""
        if number not in self._functions:
            raise CallError(Status.INVALID_HANDLE, f"there is no function {number}")
        return self._functions[number]

    def running(self, function: Function) -> Kernel:
        """The kernel in the code that the GPU runs."""
        found = function.kernel
        plan = planned(found.kernel, found.native, [self._device], self._code)
        return plan.machine[0][0] if plan.machine else found.kernel

    def variable(self, module: int, name: str) -> tuple[int, int]:
        """Address and size of a variable; CallError when the module has none of that name.

        Of machine code only what a kernel uses is known.
        """
        loaded = self._loaded(module)
        try:
            found = loaded.module.variable(name, self._memory)
        except LaunchError as error:
            user = kernel_with_variable(self._text(loaded), name)
            if user is None:
                raise CallError(Status.INVALID_SYMBOL, str(error)) from None
            memory = ModuleMemory.of(self._memory, loaded.module.module)
            found = memory.variable(name, [user])
        return found.address, found.size

    def _text(self, loaded: _Loaded) -> str:
        """The PTX of a module; empty without any."""
        image = loaded.file.read_bytes()
        if is_fat_binary(image):
            return newest_ptx(image, _version(self._device)) or newest_ptx(image)
        return "" if is_elf(image) else image.rstrip(b"\0").decode("utf-8", "replace")

    def described(self, function: Function) -> bytes:
        """What the program's side must know of a function: the words of `kc_function`."""
        kernel, device = function.kernel.kernel, self._device
        threads = kernel.required_threads or kernel.max_threads
        limit = device.sm.max_threads_per_thread_block
        if threads is not None:
            limit = min(limit, threads[0] * threads[1] * threads[2])
        running = self.running(function)
        machine = running.machine
        words = [
            function.number,
            len(kernel.parameters),
            limit,
            kernel.shared_bytes,
            0,
            running.local_bytes,
            machine.registers if machine else min(estimated_registers(kernel), 255),
            _PTX_VERSION,
            _version(device),
            function.attributes.get(8, max(0, _USUAL_SHARED_BYTES - kernel.shared_bytes)),
            kernel.parameter_bytes,
        ]
        places = [word for item in kernel.parameters for word in (item.offset, item.size)]
        return packed(*words, *places)

    def variables(self, function: Function) -> Mapping[str, Allocation]:
        """The variables of a function's module that are there by now."""
        module = self._loaded(function.module).module.module
        return ModuleMemory.of(self._memory, module).variables

    def _loaded(self, number: int) -> _Loaded:
        if number not in self._modules:
            raise CallError(Status.INVALID_HANDLE, f"there is no module {number}")
        return self._modules[number]

    def _options(self, image: bytes, file: Path) -> CompilerOptions:
        """Chooses the newest architecture that the GPU runs where there is code for several."""
        if not is_fat_binary(image):
            return CompilerOptions()
        entries = [
            (entry.kind is CodeKind.PTX, entry.number, entry.architecture)
            for entry in code_entries(io.BytesIO(image), str(file))
            if entry.kind in (CodeKind.PTX, CodeKind.CUBIN)
        ]
        fitting = [item for item in entries if item[1] <= _version(self._device)]
        if entries and not fitting:
            oldest = min(entries, key=lambda item: item[1])[2]
            self._tell(
                f"warning: {self._device.title} itself runs none of the program's code, which is "
                f"for {oldest} and later"
            )
        if len({architecture for *_, architecture in entries}) < 2 or not fitting:
            return CompilerOptions()
        return CompilerOptions(max(fitting)[2])


def _version(device: Device) -> int:
    """The number of its code: 80 of compute capability 8.0."""
    major, minor = compute_capability(device)
    return 10 * major + minor


def _suffix(image: bytes) -> str:
    if is_fat_binary(image):
        return ".fatbin"
    if is_bitcode(image) or is_spirv(image):
        return ".bc" if is_bitcode(image) else ".spv"
    return ".cubin" if is_elf(image) else ".ptx"
