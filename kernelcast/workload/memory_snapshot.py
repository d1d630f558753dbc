"""The device memory that a launch begins with, as a file: `[memory]` of a workload.

An `.npz` of NumPy: an array of bytes for each allocation, called by its address and name, and for
each variable of the kernel's module, called by its name.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernelcast.errors import DeviceMemoryError, KernelcastError, LaunchError, WorkloadError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.input_files import open_input
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.module_memory import ModuleMemory

__all__ = ["MemorySnapshot", "write_snapshot"]

_VARIABLE = "variable "
_BETWEEN = " "


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """The file, and where the workload names it."""

    path: Path
    where: str

    def memory(self, kernel: RunnableKernel) -> DeviceMemory:
        """A new memory with the contents of the file; WorkloadError when it holds none."""
        memory = DeviceMemory(name=self.path.name)
        try:
            with open_input(self.path) as file, np.load(file, allow_pickle=False) as found:
                for name in found.files:
                    self._place(memory, kernel, name, found[name])
        except (OSError, ValueError, zipfile.BadZipFile, DeviceMemoryError, LaunchError) as error:
            raise WorkloadError(f"{self.where}: {self.path}: {error}") from None
        return memory

    def _place(
        self,
        memory: DeviceMemory,
        kernel: RunnableKernel,
        name: str,
        content: npt.NDArray[np.uint8],
    ) -> None:
        if name.startswith(_VARIABLE):
            kernels = [kernel.kernel] if kernel.module is None else kernel.module.kernels.values()
            module = ModuleMemory.of(memory, kernel.module or kernel.kernel)
            variable = module.variable(name.removeprefix(_VARIABLE), kernels)
            memory.write(variable, content)
            return
        address, _, title = name.partition(_BETWEEN)
        memory.write(memory.allocate(content.size, title, address=int(address, 16)), content)


def write_snapshot(
    path: Path, allocations: Mapping[int, Allocation], variables: Mapping[str, Allocation]
) -> None:
    """Writes allocations by their addresses, and variables by their names.

    KernelcastError when the file cannot be written.
    """
    contents = {f"{at:#x}{_BETWEEN}{item.name}": item.bytes for at, item in allocations.items()}
    contents |= {f"{_VARIABLE}{name}": item.bytes for name, item in variables.items()}
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, **contents)  # type: ignore[arg-type]
    except OSError as error:
        raise KernelcastError(f"cannot write {path}: {error.strerror}") from None
