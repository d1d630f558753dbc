"""One OpenCL device with a profiling queue: programs, buffers, copies and timed launches."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.drivers import OpenClDevice, plain_driver_error
from kernelcast.simcore.launch.launch import LocalBytes

__all__ = ["LaunchSeconds", "OpenClQueue"]

_NANOSECOND = 1e-9

Array = npt.NDArray[Any]


class LaunchSeconds(NamedTuple):
    """The duration of one launch: by its event, 0 where that cannot tell, and the host's clock."""

    event: float
    host: float


class OpenClQueue:
    """All methods raise BenchmarkError, in one line, where the driver fails."""

    def __init__(self, device: OpenClDevice) -> None:
        import pyopencl

        self._cl: Any = pyopencl
        self.handle = device.handle
        with self.plain_errors(f"{device.name} cannot be opened"):
            self._context = pyopencl.Context([device.handle])
            self._queue = pyopencl.CommandQueue(
                self._context, properties=pyopencl.command_queue_properties.PROFILING_ENABLE
            )

    @cached_property
    def event_resolution_s(self) -> float:
        """The resolution of event times in seconds."""
        return float(self.handle.profiling_timer_resolution) * _NANOSECOND

    def kernels(self, text: str, options: Sequence[str], what: str) -> dict[str, Any]:
        """Builds a program; its kernels by name. Messages call it `what`."""
        with warnings.catch_warnings(), self.plain_errors(f"{what} does not compile"):
            warnings.simplefilter("ignore")  # a driver's remarks
            program = self._cl.Program(self._context, text)
            # pyopencl keeps what it builds in pickles that it does not check: its driver does well
            program.build(options=list(options), cache_dir=False)
            return {kernel.function_name: kernel for kernel in program.all_kernels()}

    def work_group_limit(self, kernel: Any) -> int:
        """The most work-items of a work-group of that kernel."""
        return self._work_group_info(kernel, self._cl.kernel_work_group_info.WORK_GROUP_SIZE)

    def local_bytes(self, kernel: Any) -> int:
        """Local memory of a work-group in bytes."""
        return self._work_group_info(kernel, self._cl.kernel_work_group_info.LOCAL_MEM_SIZE)

    def private_bytes(self, kernel: Any) -> int:
        """Private memory of a work-item in bytes."""
        return self._work_group_info(kernel, self._cl.kernel_work_group_info.PRIVATE_MEM_SIZE)

    def allocate(self, size_bytes: int) -> Any:
        """Allocates device memory."""
        with self.plain_errors(f"{size_bytes} bytes of device memory"):
            return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size_bytes)

    def release(self, buffer: Any) -> None:
        """Frees device memory."""
        with self.plain_errors("releasing a buffer"):
            buffer.release()

    def upload(self, buffer: Any, array: Array) -> None:
        """Copies an array to the device and waits."""
        with self.plain_errors("writing a buffer"):
            self._cl.enqueue_copy(self._queue, buffer, array, is_blocking=True)

    def download(self, buffer: Any, array: Array) -> None:
        """Copies device memory to an array and waits."""
        with self.plain_errors("reading a buffer"):
            self._cl.enqueue_copy(self._queue, array, buffer, is_blocking=True)

    def copy(self, to: Any, source: Any) -> None:
        """Enqueues a copy on the device; returns before it ends."""
        with self.plain_errors("copying a buffer"):
            self._cl.enqueue_copy(self._queue, to, source)

    def fill(self, buffer: Any, size_bytes: int) -> None:
        """Enqueues a fill with zeros; returns before it ends."""
        with self.plain_errors("filling a buffer"):
            self._cl.enqueue_fill_buffer(self._queue, buffer, np.zeros(1, np.uint32), 0, size_bytes)

    def set_arguments(self, kernel: Any, arguments: Sequence[Any]) -> None:
        """Buffers, NumPy scalars, bytes or `LocalBytes`."""
        with self.plain_errors(f"kernel {kernel.function_name}"):
            for position, item in enumerate(arguments):
                is_local = isinstance(item, LocalBytes)
                kernel.set_arg(position, self._cl.LocalMemory(int(item)) if is_local else item)

    def launch(
        self, kernel: Any, global_size: Sequence[int], local_size: Sequence[int]
    ) -> LaunchSeconds:
        """Launches a kernel behind what was enqueued before; waits for the end."""
        cl = self._cl
        with self.plain_errors(f"kernel {kernel.function_name}"):
            start = time.perf_counter()
            event = cl.enqueue_nd_range_kernel(
                self._queue, kernel, tuple(global_size), tuple(local_size)
            )
            event.wait()
            host = time.perf_counter() - start
            try:
                return LaunchSeconds((event.profile.end - event.profile.start) * _NANOSECOND, host)
            except cl.Error:
                return LaunchSeconds(0.0, host)

    def launch_burst(self, kernel: Any, launches: int) -> float:
        """Host seconds until so many launches of one work-item are done."""
        with self.plain_errors(f"kernel {kernel.function_name}"):
            start = time.perf_counter()
            for _ in range(launches):
                self._cl.enqueue_nd_range_kernel(self._queue, kernel, (1,), (1,))
            self._queue.finish()
            return time.perf_counter() - start

    @contextmanager
    def plain_errors(self, what: str) -> Iterator[None]:
        """Turns a driver's error into one line."""
        try:
            yield
        except self._cl.Error as error:
            raise BenchmarkError(f"{what}: {plain_driver_error(error)}") from None

    def _work_group_info(self, kernel: Any, which: Any) -> int:
        with self.plain_errors(f"kernel {kernel.function_name}"):
            return int(kernel.get_work_group_info(which, self.handle))
