"""One OpenCL device to measure: its queue, its programs, its facts and timed launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["DeviceFacts", "Feature", "Target"]


class Feature(Enum):
    """What not every device has."""

    FP64 = "fp64"
    FP16 = "fp16"
    IMAGES = "images"
    INT64_ATOMICS = "int64 atomics"


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the driver says of a device."""

    name: str
    vendor: str
    platform: str
    driver: str
    is_cpu: bool
    compute_units: int
    clock_hz: float
    global_bytes: int
    max_buffer_bytes: int
    local_bytes: int
    constant_bytes: int
    cache_bytes: int
    cache_line_bytes: int
    max_work_group: int
    preferred_work_group_multiple: int
    features: frozenset[Feature]
    llvm_float_width: int = 1


class Target(Protocol):
    """What benchmarks see of a device, so that tests can give them one with known answers."""

    @property
    def facts(self) -> DeviceFacts:
        """The driver's facts."""

    def kernel(self, file: str, name: str, defines: Mapping[str, object]) -> Any:
        """A kernel of `opencl_bench/kernels/<file>`, compiled with the given macros; cached."""

    def buffer(self, content: npt.NDArray[Any]) -> Any:
        """Device memory with that content."""

    def empty(self, size_bytes: int) -> Any:
        """Device memory of any content; BenchmarkError when the device has not so much."""

    def read(self, buffer: Any, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What a buffer holds, as an array of that shape and type."""

    def seconds(
        self,
        kernel: Any,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[Any],
        repeats: int,
    ) -> npt.NDArray[np.float64]:
        """Device time of each of `repeats` launches, after a warm-up.

        Arguments are buffers, NumPy scalars or `LocalBytes`.
        """

    def transfer_seconds(self, size_bytes: int, to_device: bool, repeats: int) -> Any:
        """Host time of copies between host and device memory, shape (repeats,)."""

    def launch_seconds(self, kernel: Any, arguments: Sequence[Any], launches: int) -> float:
        """Host time of a launch when `launches` of one work-group follow each other.

        The time until all are done, over their number.
        """
