"""A real OpenCL device as a `Target` of benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.driver_facts import device_facts
from kernelcast.opencl_bench.drivers import OpenClDevice
from kernelcast.opencl_bench.opencl_queue import OpenClQueue
from kernelcast.opencl_bench.target import DeviceFacts
from kernelcast.opencl_bench.warm_up import are_events_usable, steadiest, warm_up

__all__ = ["OpenClTarget"]

_FIRST_WARM_UP_S = 0.5
_WARM_UP_S = 0.02
_LIMIT_S = 1.0

_Seconds = npt.NDArray[np.float64]


class OpenClTarget:
    """Programs and kernels are built once and kept."""

    def __init__(self, device: OpenClDevice) -> None:
        self._queue = OpenClQueue(device)
        self._kernels: dict[tuple[object, ...], Any] = {}
        self._is_warm = False

    @cached_property
    def facts(self) -> DeviceFacts:
        """The driver's facts."""
        return device_facts(self._queue.handle)

    def kernel(self, file: str, name: str, defines: Mapping[str, object]) -> Any:
        """A compiled kernel; BenchmarkError with the compiler's first error."""
        options = tuple(sorted((key, _macro(value)) for key, value in defines.items()))
        if (file, name, options) not in self._kernels:
            for found, kernel in self._build(file, options).items():
                self._kernels[file, found, options] = kernel
        try:
            return self._kernels[file, name, options]
        except KeyError:
            raise BenchmarkError(f"{file} has no kernel {name}") from None

    def buffer(self, content: npt.NDArray[Any]) -> Any:
        """Allocates a buffer with that content."""
        array = np.ascontiguousarray(content)
        made = self.empty(array.nbytes)
        self._queue.upload(made, array)
        return made

    def empty(self, size_bytes: int) -> Any:
        """Allocates a buffer; BenchmarkError for more than the device allows."""
        limit = self.facts.max_buffer_bytes
        if size_bytes > limit:
            raise BenchmarkError(f"a buffer of {size_bytes} bytes: the device allows {limit}")
        return self._queue.allocate(size_bytes)

    def read(self, buffer: Any, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The content of a buffer as an array like `like`."""
        content = np.empty(like.shape, like.dtype)
        self._queue.download(buffer, content)
        return content

    def seconds(
        self,
        kernel: Any,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[Any],
        repeats: int,
    ) -> _Seconds:
        """Times launches by events; by the host's clock where events are too coarse or wrong."""
        self._check_work_group(kernel, local_size)
        queue = self._queue
        queue.set_arguments(kernel, arguments)
        patience = _WARM_UP_S if self._is_warm else _FIRST_WARM_UP_S
        warm_up(lambda: queue.launch(kernel, global_size, local_size).host, patience, _LIMIT_S)
        self._is_warm = True

        def series() -> _Seconds:
            launches = [queue.launch(kernel, global_size, local_size) for _ in range(repeats)]
            events = np.array([launch.event for launch in launches])
            host = np.array([launch.host for launch in launches])
            return events if are_events_usable(events, host, queue.event_resolution_s) else host

        return steadiest(series)

    def transfer_seconds(self, size_bytes: int, to_device: bool, repeats: int) -> _Seconds:
        """Times copies between host and device, after a warm-up."""
        host = np.ones(size_bytes, np.uint8)
        device = self.empty(size_bytes)
        # the first transfer touches the pages of both
        self._queue.upload(device, host)

        def copy() -> None:
            (self._queue.upload if to_device else self._queue.download)(device, host)

        warm_up(lambda: _host_seconds(copy), _WARM_UP_S, _LIMIT_S)
        return np.array([_host_seconds(copy) for _ in range(repeats)])

    def launch_seconds(self, kernel: Any, arguments: Sequence[Any], launches: int) -> float:
        """The mean time of a launch in a burst, after a burst that warms up."""
        self._queue.set_arguments(kernel, arguments)
        self._queue.launch_burst(kernel, launches)
        return self._queue.launch_burst(kernel, launches) / launches

    def _build(self, file: str, options: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        source = resources.files("kernelcast.opencl_bench") / "kernels" / file
        if not source.is_file():
            raise BenchmarkError(f"there is no benchmark kernel file {file}")
        flags = [f"-D{name}={value}" for name, value in options]
        return self._queue.kernels(source.read_text(encoding="utf-8"), flags, file)

    def _check_work_group(self, kernel: Any, local_size: Sequence[int]) -> None:
        wanted, limit = int(np.prod(local_size)), self._queue.work_group_limit(kernel)
        if wanted > limit:
            raise BenchmarkError(
                f"kernel {kernel.function_name}: a work-group of {wanted}, the limit is {limit}"
            )


def _macro(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _host_seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
