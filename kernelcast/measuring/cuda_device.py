"""A CUDA GPU through the driver API: `cuda.bindings.driver` of the package cuda-python."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import numpy as np

from kernelcast.measuring.accelerator import (
    Array,
    BuiltKernel,
    DeviceBuffer,
    DeviceLaunch,
    DeviceLost,
    MeasuringError,
)
from kernelcast.measuring.nvidia_smi import NvidiaSmi
from kernelcast.simcore.launch.launch import LocalBytes
from kernelcast.validation.measured_times import Api, DeviceFacts

__all__ = ["CudaDevice"]

_EMPTY_KERNEL = b"""
.version 6.0
.target sm_30
.address_size 64
.visible .entry empty()
{
    ret;
}
"""
_LOG_BYTES = 8192
_ELF = b"\x7fELF"
_VERSION = re.compile(rb"^(\s*\.version\s+)\d+\.\d+", re.MULTILINE)
_OLDER_VERSION = b"7.0"
"""The PTX version of CUDA 11.0 (PTX ISA, release notes)."""
_UNSUPPORTED_VERSION = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
_DEFAULT_STREAM = 0
_STATIC_SHARED_BYTES = 48 * 1024
"""More per thread block is dynamic and must be asked for (CUDA C++ Programming Guide, 16)."""

_FAULTS = range(700, 720)
"""CUresult values of kernels that failed; the context is of no use afterwards, except for 701."""
_OUT_OF_RESOURCES = 701


class CudaDevice:
    """One GPU with its primary context and the default stream."""

    api = Api.CUDA
    is_dry_run = False

    def __init__(self, ordinal: int) -> None:
        self._driver = _import_driver()
        self._device = self._open(ordinal)
        context = self._call("cuDevicePrimaryCtxRetain", self._device)
        self._call("cuCtxSetCurrent", context)
        bus_id = self._call("cuDeviceGetPCIBusId", 16, self._device)
        self._smi = NvidiaSmi(_text(bus_id))
        self._start = self._call("cuEventCreate", 0)
        self._end = self._call("cuEventCreate", 0)
        self._facts = self._read_facts()

    @property
    def facts(self) -> DeviceFacts:
        """What the driver says of the GPU."""
        return self._facts

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        """Loads PTX or a cubin; the kernel with the resources that the driver gives it."""
        module, remarks = self._load_any_version(source)
        function = self._call("cuModuleGetFunction", module, entry.encode())
        return BuiltKernel(
            name=entry,
            handle=function,
            module=module,
            registers=self._function_attribute("NUM_REGS", function),
            shared_bytes=self._function_attribute("SHARED_SIZE_BYTES", function),
            local_bytes=self._function_attribute("LOCAL_SIZE_BYTES", function),
            remarks=remarks,
        )

    def discard(self, kernel: BuiltKernel) -> None:
        """Unloads the kernel's module."""
        self._call("cuModuleUnload", kernel.module)

    def empty_kernel(self) -> BuiltKernel:
        """A kernel without parameters that does nothing."""
        return self.build(_EMPTY_KERNEL, "empty")

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Allocates device memory."""
        return DeviceBuffer(self._call("cuMemAlloc", nbytes), nbytes)

    def free(self, buffer: DeviceBuffer) -> None:
        """Frees device memory."""
        self._call("cuMemFree", buffer.handle)

    def upload(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies an array to the GPU and waits."""
        self._call("cuMemcpyHtoD", buffer.handle, array.ctypes.data, array.nbytes)

    def download(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies GPU memory to an array and waits."""
        self._call("cuMemcpyDtoH", array.ctypes.data, buffer.handle, array.nbytes)

    def copy(self, to: DeviceBuffer, source: DeviceBuffer) -> None:
        """Enqueues a copy within the GPU."""
        self._call("cuMemcpyDtoDAsync", to.handle, source.handle, to.nbytes, _DEFAULT_STREAM)

    def fill(self, buffer: DeviceBuffer) -> None:
        """Enqueues a fill with zeros."""
        self._call("cuMemsetD8Async", buffer.handle, 0, buffer.nbytes, _DEFAULT_STREAM)

    def time(self, launch: DeviceLaunch) -> float:
        """Seconds between two events around the launch."""
        self._allow_shared_bytes(launch)
        values = [_parameter(argument) for argument in launch.arguments]
        pointers = np.array([ctypes.addressof(value) for value in values], np.uint64)
        parameters = pointers.ctypes.data if values else 0
        sizes = (*launch.grid, *launch.block, launch.dynamic_shared_bytes)
        self._call("cuEventRecord", self._start, _DEFAULT_STREAM)
        self._call("cuLaunchKernel", launch.kernel.handle, *sizes, _DEFAULT_STREAM, parameters, 0)
        self._call("cuEventRecord", self._end, _DEFAULT_STREAM)
        self._call("cuEventSynchronize", self._end)
        return float(self._call("cuEventElapsedTime", self._start, self._end)) * 1e-3

    def clocks(self) -> Mapping[str, float]:
        """The present clocks by `nvidia-smi`."""
        return self._smi.clocks()

    def _open(self, ordinal: int) -> Any:
        self._call("cuInit", 0)
        count = self._call("cuDeviceGetCount")
        if not 0 <= ordinal < count:
            raise MeasuringError(f"there is no device {ordinal}: {count} CUDA devices are there")
        return self._call("cuDeviceGet", ordinal)

    def _load_any_version(self, source: bytes) -> tuple[Any, tuple[str, ...]]:
        """The module, and a remark when the driver takes it as older PTX only.

        A compiler writes its own version into `.version`, most often without any need for it.
        """
        try:
            return self._load(source), ()
        except MeasuringError as error:
            if _UNSUPPORTED_VERSION not in error.message:
                raise
        older, replaced = _VERSION.subn(rb"\g<1>" + _OLDER_VERSION, source, count=1)
        remark = f"loaded as PTX {_OLDER_VERSION.decode()}: the driver is older than the PTX file"
        return self._load(older if replaced else source), (remark,)

    def _load(self, source: bytes) -> Any:
        """The module of a cubin, or of PTX that the driver compiles; or its first complaint."""
        options = self._driver.CUjit_option
        log = bytearray(_LOG_BYTES)
        names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        text = source if source.startswith(_ELF) else source.rstrip(b"\0") + b"\0"
        try:
            return self._call("cuModuleLoadDataEx", text, len(names), names, [log, len(log)])
        except MeasuringError as error:
            complaint = _text(bytes(log))
            lines = [line.strip() for line in complaint.splitlines() if line.strip()]
            reason = f": {lines[0]}" if lines else ""
            raise type(error)(f"{error.message}{reason}") from None

    def _allow_shared_bytes(self, launch: DeviceLaunch) -> None:
        static = launch.kernel.shared_bytes or 0
        if static + launch.dynamic_shared_bytes > _STATIC_SHARED_BYTES:
            attribute = self._driver.CUfunction_attribute
            self._call(
                "cuFuncSetAttribute",
                launch.kernel.handle,
                attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                launch.dynamic_shared_bytes,
            )

    def _function_attribute(self, name: str, function: Any) -> int:
        attribute = getattr(self._driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(self._call("cuFuncGetAttribute", attribute, function))

    def _device_attribute(self, name: str) -> int:
        attribute = getattr(self._driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._call("cuDeviceGetAttribute", attribute, self._device))

    def _read_facts(self) -> DeviceFacts:
        attribute = self._device_attribute
        version = int(self._call("cuDriverGetVersion"))
        name = self._call("cuDeviceGetName", 256, self._device)
        major = attribute("COMPUTE_CAPABILITY_MAJOR")
        return DeviceFacts(
            name=_text(name),
            compute_capability=f"{major}.{attribute('COMPUTE_CAPABILITY_MINOR')}",
            sm_count=attribute("MULTIPROCESSOR_COUNT"),
            sm_clock_hz=attribute("CLOCK_RATE") * 1e3 or None,
            memory_clock_hz=attribute("MEMORY_CLOCK_RATE") * 1e3 or None,
            memory_bus_bits=attribute("GLOBAL_MEMORY_BUS_WIDTH") or None,
            l2_bytes=attribute("L2_CACHE_SIZE") or None,
            driver=self._smi.driver_version(),
            cuda_version=f"{version // 1000}.{version % 1000 // 10}",
            date=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _call(self, name: str, *arguments: object) -> Any:
        """The results of a driver call without its status; MeasuringError when that is an error."""
        try:
            status, *results = getattr(self._driver, name)(*arguments)
        except RuntimeError as error:  # from the bindings, which found no libcuda or no such call
            reason = " ".join(str(error).split())
            if name == "cuInit":
                raise MeasuringError(f"no CUDA driver on this machine: {reason}") from None
            hint = "a cuda-python of the driver's CUDA version may help"
            raise MeasuringError(f"{name}: {reason}; {hint}") from None
        if int(status) == 0:
            return results[0] if results else None
        kind = MeasuringError
        if int(status) in _FAULTS and int(status) != _OUT_OF_RESOURCES:
            kind = DeviceLost
        raise kind(f"{name}: {getattr(status, 'name', status)}")


def _import_driver() -> ModuleType:
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError:
        raise MeasuringError("cuda-python is not installed: pip install cuda-python") from None


def _text(padded: bytes) -> str:
    """What the driver wrote into a longer array; behind the first NUL anything may follow."""
    return padded.partition(b"\0")[0].decode(errors="replace").strip()


def _parameter(argument: DeviceBuffer | LocalBytes | bytes) -> ctypes.Array[ctypes.c_char]:
    """Memory that holds the argument as the kernel takes it."""
    if isinstance(argument, LocalBytes):
        raise MeasuringError("CUDA kernels take no arrays in shared memory as arguments")
    if isinstance(argument, DeviceBuffer):
        argument = int(argument.handle).to_bytes(8, "little")
    return (ctypes.c_char * len(argument)).from_buffer_copy(argument)
