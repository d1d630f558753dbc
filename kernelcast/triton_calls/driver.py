"""A driver behind Triton's own interface: Triton specialises and compiles, launches come here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from kernelcast.errors import InputError
from kernelcast.execution.code import machine_architecture
from kernelcast.inputs.triton_kernel import TritonKernel
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.simcore.device.device import Device
from kernelcast.triton_calls.descriptors import descriptor_arguments, is_descriptor

__all__ = ["CompiledLaunch", "KernelcastDriver", "LaunchMaker"]

_WARP_WIDTH = 32
_CONSTANT = "constexpr"
_OLDEST = 75
_MOST_THREADS = 1024
_REGISTER_UNIT = 8 * _WARP_WIDTH
"""Registers are given to warps in units of 256."""


class LaunchMaker(Protocol):
    """Who makes the launches that reach a driver: a session."""

    def launch(self, compiled: CompiledLaunch, grid: Sequence[int], args: Sequence[Any]) -> None:
        """Makes one launch of `grid` programs; `args` as the function takes them."""

    def measure(self, call: Callable[[], object]) -> float:
        """The milliseconds of the launches of `call`."""


class CompiledLaunch:
    """What Triton compiled of a function for some types and constants, as its launcher.

    Triton makes one for each compiled kernel, by `launcher_cls(source, metadata)`, and calls it.
    """

    def __init__(self, source: Any, metadata: Any) -> None:
        self.source = source
        self.metadata = metadata
        self._ptx = _compiled_ptx(source.name, metadata.hash)

    def __call__(self, *given: Any) -> None:
        """Makes a launch; `given` as Triton gives it: grid, stream, function, hooks, arguments."""
        grid, (launch_metadata, enter, leave), args = given[:3], given[6:9], given[9:]
        if enter is not None:
            enter(launch_metadata)
        driver = importlib.import_module("triton.runtime.driver").driver.active
        driver.maker.launch(self, grid, args)
        if leave is not None:
            leave(launch_metadata)

    @cached_property
    def kernel(self) -> TritonKernel:
        """The kernel that runs."""
        nothing = (None,) * len(self.source.signature)
        names = [name for name, _, _ in self.parameters(nothing)]
        return TritonKernel.of(self.metadata, self._ptx, names)

    @property
    def constants(self) -> dict[str, Any]:
        """The constants by name: those of the function, and arguments that are equal to 1."""
        names = self.source.fn.arg_names
        return {
            names[path[0]]: value for path, value in self.source.constants.items() if len(path) == 1
        }

    def parameters(self, args: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
        """Name, type and value of each argument of the PTX: no constants, tuples one by one."""
        layouts = iter(getattr(self.metadata, "tensordesc_meta", None) or repeat(None))
        for (name, kind), value in zip(self.source.signature.items(), args, strict=True):
            yield from _flattened(name, kind, value, layouts)


def _compiled_ptx(name: str, key: str) -> str:
    """The PTX that Triton has just put into its cache."""
    cache = importlib.import_module("triton.runtime.cache").get_cache_manager(key)
    file_name = name[:150]
    path = (cache.get_group(f"{file_name}.json") or {}).get(f"{file_name}.ptx")
    if path is None:
        raise InputError(f"{name}: its PTX is not in Triton's cache")
    return Path(path).read_text(encoding="utf-8")


def _flattened(
    name: str, kind: Any, value: Any, layouts: Iterator[Any]
) -> Iterator[tuple[str, str, Any]]:
    """Names, types and values of one argument; descriptors take their layouts in turn."""
    if isinstance(kind, tuple):
        items = value if isinstance(value, tuple) else (None,) * len(kind)
        for number, (part, item) in enumerate(zip(kind, items, strict=True)):
            yield from _flattened(f"{name}[{number}]", part, item, layouts)
    elif is_descriptor(kind):
        yield from descriptor_arguments(name, kind, value, next(layouts))
    elif kind != _CONSTANT:
        yield name, kind, value


_LAUNCHES: WeakValueDictionary[int, CompiledLaunch] = WeakValueDictionary()
"""Launchers by the identity of their metadata, which they keep."""


def _launcher(source: Any, metadata: Any) -> CompiledLaunch:
    """The launcher of what Triton compiled; Triton asks again before each launch."""
    found = _LAUNCHES.get(id(metadata))
    if found is None:
        found = _LAUNCHES[id(metadata)] = CompiledLaunch(source, metadata)
    return found


@lru_cache(maxsize=256)
def _registers_and_frame(name: str, content: bytes) -> tuple[int, int]:
    """Registers of a thread of a cubin's function, and the bytes of its stack frame."""
    function = read_cubin(content, name).functions[name]
    return max(function.registers, 1), function.frame_bytes


@dataclass(frozen=True)
class _Utilities:
    """What Triton asks of a GPU when it loads a kernel."""

    device: Device

    def get_device_properties(self, _: object) -> dict[str, int]:
        """Limits under the names that CUDA's driver of Triton has for them; clocks in kHz."""
        architecture, sm = self.device.architecture, self.device.sm
        return {
            "max_shared_mem": sm.max_shared_bytes_per_thread_block,
            "max_num_regs": sm.registers,
            "multiprocessor_count": architecture.sm_count,
            "warpSize": architecture.warp_width,
            "sm_clock_rate": round(architecture.clock_hz / 1e3),
        }

    def load_binary(
        self, name: str, content: bytes, _shared: int, _device: object
    ) -> tuple[None, str, int, int, int]:
        """Module, function, registers and spills per thread, and how many threads they leave."""
        registers, frame_bytes = _registers_and_frame(name, content)
        per_warp = -(-registers * _WARP_WIDTH // _REGISTER_UNIT) * _REGISTER_UNIT
        threads = self.device.sm.registers // per_warp * _WARP_WIDTH
        return None, name, registers, frame_bytes // 4, min(threads, _MOST_THREADS)


class KernelcastDriver:
    """Triton's driver of one device that is not there.

    `maker` gets the launches. InputError for a device that Triton cannot compile for.
    """

    launcher_cls = staticmethod(_launcher)

    def __init__(self, device: Device, maker: LaunchMaker) -> None:
        architecture = machine_architecture(device)
        if not isinstance(architecture, int) or architecture < _OLDEST:
            raise InputError(
                f"Triton does not compile for {device.title}: it takes NVIDIA's GPUs from compute "
                "capability 7.5 on"
            )
        self.device = device
        self.architecture = architecture
        self.maker = maker
        self.utils = _Utilities(device)

    @staticmethod
    def is_active() -> bool:
        """Whether the driver can be used: always."""
        return True

    def get_current_target(self) -> Any:
        """What Triton compiles for."""
        target = importlib.import_module("triton.backends.compiler").GPUTarget
        return target("cuda", self.architecture, _WARP_WIDTH)

    def get_current_device(self) -> str:
        """The name under which Triton keeps what it compiled: kernels of two devices stay apart."""
        limits = self.utils.get_device_properties(None)
        return f"kernelcast {self.device.name} sm_{self.architecture} {limits}"

    def set_current_device(self, _: object) -> None:
        """Changes nothing: the session says which device it is."""

    def get_current_stream(self, _: object) -> int:
        """The one stream: launches are made one behind the other."""
        return 0

    def get_device_capability(self, _: object = None) -> tuple[int, int]:
        """The compute capability, major and minor."""
        return divmod(self.architecture, 10)

    def get_active_torch_device(self) -> Any:
        """The device of torch that tensors of a launch lie on."""
        return importlib.import_module("torch").device("cpu")

    def map_python_to_cpp_type(self, kind: str) -> str:
        """The C++ type of one of Triton's, as CUDA's driver names it."""
        name: str = importlib.import_module("triton.backends.nvidia.driver").ty_to_cpp(kind)
        return name

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """What an autotuner measures with: predicted milliseconds for each of the quantiles."""

        def benchmark(call: Callable[[], object], *, quantiles: Sequence[float]) -> list[float]:
            return [self.maker.measure(call)] * len(quantiles)

        return benchmark
