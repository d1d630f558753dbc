"""What `load` gives: a module of kernels that run, and the traces that their runs leave."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import LaunchError, nearest
from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.device import Device
from kernelcast.simcore.device_file import load_device
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.kernel import Kernel, Module
from kernelcast.simcore.launch import Argument, Launch, Limits, dimensions
from kernelcast.simcore.occupancy import occupancy
from kernelcast.simcore.profile import KernelProfile, LaunchShape
from kernelcast.simcore.resources import resource_needs
from kernelcast.traces.trace import Trace

__all__ = ["KernelTrace", "LoadedModule", "Progress", "RunnableKernel"]

Progress: TypeAlias = Callable[[float], None]
"""Called now and then with the executed share of the grid, 0 to 1."""

_MAX_SHARED_BYTES = 227 * 1024
"""Per thread block: the most of any compute capability (CUDA C Programming Guide, 9.0)."""


@dataclass(frozen=True)
class KernelTrace:
    """One executed launch. `data` is the trace itself; `repeats` launches are to be estimated."""

    data: Trace
    repeats: int = 1

    def __repr__(self) -> str:
        return f"<trace of {self.data.kernel}, {self.data.engine} engine>"

    def repeated(self, repeats: int) -> KernelTrace:
        return replace(self, repeats=repeats)

    def with_registers(self, registers: int) -> KernelTrace:
        """As compiled to that many registers per thread: another occupancy, the same counts."""
        resources = replace(self.data.resources, registers=registers)
        return replace(self, data=replace(self.data, resources=resources))

    def profile(self, device: Device | str) -> KernelProfile:
        """What a profiler would report of this launch on `device`."""
        # The compiled memory simulator is slow to import and runs of the kernel do not need it.
        from kernelcast.simcore.profiler import profile

        target = load_device(device) if isinstance(device, str) else device
        return replace(profile(self.data, target, self.repeats), target=target)

    def profiles(self, devices: Sequence[Device | str]) -> list[KernelProfile]:
        """`profile` on several devices, in their order, on all cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self.profile, devices))


@dataclass(frozen=True)
class RunnableKernel:
    """One kernel of a module; `run` executes it on the CPU."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        return self.kernel.name

    def run(
        self,
        *,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Argument],
        shared_bytes: int = 0,
        registers: int | None = None,
        devices: Sequence[Device] = (),
        argument_names: Sequence[str] = (),
        warp_width: int = 32,
        limits: Limits | None = None,
        engine: str = "auto",
        progress: Progress | None = None,
        record_memory: bool = True,
    ) -> KernelTrace:
        """Executes one launch: arrays in `args` are the buffers that the kernel reads and writes.

        `grid` counts thread blocks and `block` threads, up to three sizes each. `shared_bytes` is
        the dynamic shared memory, `registers` the count per thread of the target's compiler.
        Raises LaunchError, before it runs, when the launch does not fit the kernel or one of
        `devices`, and ExecutionError, with thread and source line, when the kernel fails;
        `argument_names` is what messages call the arguments. Without `record_memory` the trace
        counts instructions only, where that saves time, and has no profile.
        """
        if isinstance(args, str) or not isinstance(args, Sequence):
            raise LaunchError(f"args must be a list of arguments, got {type(args).__name__}")
        launch = Launch(
            grid=dimensions(grid, "grid"),
            thread_block=dimensions(block, "thread block"),
            arguments=tuple(args),
            dynamic_shared_bytes=shared_bytes,
            registers=registers,
            argument_names=tuple(argument_names),
        )
        launch.check(self.kernel)
        needs = resource_needs(self.kernel, launch)
        if needs.shared_bytes > _MAX_SHARED_BYTES:
            raise LaunchError(
                f"{needs.shared_bytes} bytes of shared memory per thread block: no GPU allows more "
                f"than {_MAX_SHARED_BYTES}"
            )
        for device in devices:
            occupancy(needs, LaunchShape(launch.grid, launch.thread_block), device)
        if engine == "auto" and record_memory and not _are_as_wide(devices, warp_width):
            # two warps may have to make one of a wider device: only this engine counts pairs
            engine = "reference"
        return KernelTrace(
            execute(
                self.kernel,
                launch,
                warp_width=warp_width,
                limits=limits or Limits(),
                engine=engine,
                progress=progress,
                record_memory=record_memory,
            )
        )


def _are_as_wide(devices: Sequence[Device], warp_width: int) -> bool:
    """Whether the profiles to be made are known and none is of a device with wider warps."""
    return bool(devices) and all(d.architecture.warp_width == warp_width for d in devices)


@dataclass(frozen=True)
class LoadedModule(Mapping[str, RunnableKernel]):
    """The kernels of a source file by name."""

    module: Module

    def __repr__(self) -> str:
        return f"<module {self.module.path}: {', '.join(self) or 'no kernels'}>"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LoadedModule:
        return cls(read_module(Path(path)))

    def __getitem__(self, name: str) -> RunnableKernel:
        """Raises why the kernel cannot run, or LaunchError when there is none of that name."""
        if name in self.module.kernels:
            return RunnableKernel(self.module.kernels[name])
        for reason in self.module.rejected.get(name, ()):
            raise reason
        known = (*self.module.kernels, *self.module.rejected)
        raise LaunchError(
            f"{self.module.path} has no kernel {name!r}{nearest(name, known)}; "
            f"it has {', '.join(known) or 'none'}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.module.kernels)

    def __len__(self) -> int:
        return len(self.module.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self.module.kernels

    def only_kernel(self) -> RunnableKernel:
        """The module's single kernel; LaunchError when it has none or several."""
        names = (*self.module.kernels, *self.module.rejected)
        if len(names) != 1:
            raise LaunchError(
                f"{self.module.path} has {len(names)} kernels, name one as entry: "
                f"{', '.join(names) or 'none'}"
            )
        return self[names[0]]
