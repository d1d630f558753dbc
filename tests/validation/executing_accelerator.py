"""A device for tests that executes: PTX by the reference engine, machine code as it is lowered."""

from __future__ import annotations

from collections.abc import Sequence

from fake_accelerator import FakeAccelerator

from kernelcast.inputs.native.cubins import cubin_module
from kernelcast.measuring.accelerator import BuiltKernel, DeviceBuffer, DeviceLaunch
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from kernelcast.validation.measured_times import Api

__all__ = ["ExecutingAccelerator"]


class ExecutingAccelerator(FakeAccelerator):
    """Executes what it is given; `seconds` is how long each launch takes."""

    is_dry_run = False
    seconds = 1e-3

    def __init__(self) -> None:
        super().__init__(Api.CUDA)
        self.sources: list[bytes] = []

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        """Reads the kernel."""
        self.sources.append(source)
        if source.startswith(b"\x7fELF"):
            module = cubin_module(source, "loaded.cubin")
        else:
            module = read_ptx(source.decode(), "loaded.ptx")
        return BuiltKernel(entry, module.kernels[entry], None, 12, 0, 0)

    def time(self, launch: DeviceLaunch) -> float:
        """Executes the launch."""
        self.execute(launch)
        return self.seconds

    def execute(self, launch: DeviceLaunch) -> None:
        """Executes a kernel; the empty one has none."""
        kernel = launch.kernel.handle
        if isinstance(kernel, str):
            return
        arguments = tuple(
            item.handle if isinstance(item, DeviceBuffer) else item for item in launch.arguments
        )
        execute(
            kernel,
            Launch(launch.grid, launch.block, arguments, launch.dynamic_shared_bytes),
            engine="reference",
            record_memory=False,
        )
