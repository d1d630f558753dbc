"""Finds the OpenCL devices of this machine, Intel's CPU runtime among the Python packages too."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from kernelcast.errors import BenchmarkError
from kernelcast.simcore.host.disk_cache import cache_folder, kept_folder
from kernelcast.simcore.host.private_folder import FolderRefused, PrivateFolder

__all__ = [
    "DeviceKind",
    "OpenClDevice",
    "opencl_device",
    "opencl_devices",
    "packaged_runtime",
    "plain_driver_error",
    "write_vendors",
]

_VENDORS_VARIABLE = "OCL_ICD_VENDORS"
_RUNTIME_PACKAGE = "intel-opencl-rt"
_RUNTIME_LIBRARY = "libintelocl.so"
_RUNTIME_ENTRY = "kernelcast-intel.icd"
_VENDORS = "opencl-vendors"
_EXTRA = "kernelcast[opencl-cpu]"


class DeviceKind(IntEnum):
    """The kinds of devices in the order of preference."""

    GPU = 0
    ACCELERATOR = 1
    CPU = 2
    OTHER = 3


@dataclass(frozen=True, slots=True)
class OpenClDevice:
    """`index` is what `--opencl-device` takes; `handle` is pyopencl's device."""

    index: int
    name: str
    platform: str
    driver: str
    kind: DeviceKind
    handle: Any = field(compare=False, repr=False)


def opencl_devices() -> tuple[OpenClDevice, ...]:
    """All devices of all platforms, GPUs first, in an order that does not change between runs.

    BenchmarkError when there is none; says what can be installed.
    """
    was_loaded = "pyopencl" in sys.modules
    offered = _offer_packaged_runtime()
    found = sorted(_found(), key=lambda item: (item[0], item[1].platform.name, item[1].name))
    if not found:
        raise BenchmarkError(_nothing_found(offered if was_loaded else None))
    return tuple(
        OpenClDevice(
            index,
            handle.name.strip(),
            handle.platform.name.strip(),
            handle.driver_version.strip(),
            kind,
            handle,
        )
        for index, (kind, handle) in enumerate(found)
    )


def opencl_device(index: int | None) -> OpenClDevice:
    """One of `opencl_devices`, by default the first; BenchmarkError for an index beyond them."""
    devices = opencl_devices()
    chosen = 0 if index is None else index
    if not 0 <= chosen < len(devices):
        raise BenchmarkError(
            f"no OpenCL device {chosen}; known are 0 to {len(devices) - 1}: "
            + ", ".join(device.name for device in devices)
        )
    return devices[chosen]


def packaged_runtime() -> Path | None:
    """Intel's CPU runtime as pip installed it; the package's own .icd names a path of its maker."""
    try:
        files = importlib.metadata.files(_RUNTIME_PACKAGE) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == _RUNTIME_LIBRARY:
            library = Path(str(file.locate())).resolve()
            return library if library.is_file() else None
    return None


def write_vendors(library: Path, folder: PrivateFolder, system: Iterable[Path]) -> Path:
    """A folder for OCL_ICD_VENDORS: an entry for `library` and copies of the system's entries.

    Without the copies the folder would hide the system's drivers. Entries that name a library which
    does not exist are left out. BenchmarkError when the folder cannot be written, or others could
    name libraries there, which the loader would load.
    """
    entries = {_RUNTIME_ENTRY: f"{library}\n"}
    for source in system:
        for entry in sorted(source.glob("*.icd")) if source.is_dir() else ():
            text = _entry_text(entry)
            if text:
                entries.setdefault(entry.name, text)
    try:
        with folder.opened(create=True) as vendors:
            for old in vendors.names():
                if old.endswith(".icd") and old not in entries:
                    vendors.remove(old)
            for name, text in entries.items():
                if vendors.read(name) != text.encode():
                    vendors.write(name, text.encode())
    except FolderRefused as reason:
        raise BenchmarkError(f"{reason}; KERNELCAST_CACHE moves it") from None
    except OSError as error:
        raise BenchmarkError(
            f"{folder.path}: {error.strerror}; KERNELCAST_CACHE moves it"
        ) from None
    return folder.path


def plain_driver_error(error: Exception) -> str:
    """The one line of a driver's error that says something; names PoCL's pip package if it is."""
    text = str(error).strip()
    if "unknown target CPU" in text:
        return (
            "this PoCL was built with an LLVM older than this CPU (unknown target CPU): remove the "
            f"package pocl-binary-distribution and install {_EXTRA}, or PoCL from the system"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines
    return telling[0] if telling else type(error).__name__


def _system_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the loader would look without us; a conda environment brings its own folder."""
    own = Path(sys.prefix) / "etc" / "OpenCL" / "vendors"
    conda = (own,) if "CONDA_PREFIX" in environment else ()
    return (Path("/etc/OpenCL/vendors"), *conda)


def _offer_packaged_runtime() -> Path | None:
    """Points the loader to a folder with the packaged runtime; None where there is nothing to do.

    Only what is set before the first OpenCL call of the process counts. A folder that the user has
    set stays.
    """
    library = packaged_runtime() if sys.platform == "linux" else None
    folder = cache_folder() / _VENDORS
    if library is None or os.environ.get(_VENDORS_VARIABLE, str(folder)) != str(folder):
        return None
    try:
        vendors = kept_folder(_VENDORS)
    except OSError as error:
        raise BenchmarkError(f"{error.strerror}; KERNELCAST_CACHE moves it") from None
    write_vendors(library, vendors, _system_folders(os.environ))
    os.environ[_VENDORS_VARIABLE] = str(folder)
    return folder


def _found() -> list[tuple[DeviceKind, Any]]:
    cl = _pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        if "PLATFORM_NOT_FOUND" in str(error):
            return []
        raise BenchmarkError(f"OpenCL: {plain_driver_error(error)}") from None
    found = []
    for platform in platforms:
        try:
            handles = platform.get_devices()
        except cl.Error as error:
            if "DEVICE_NOT_FOUND" in str(error):
                continue
            raise BenchmarkError(f"{platform.name}: {plain_driver_error(error)}") from None
        found += [(_kind(cl, handle), handle) for handle in handles]
    return found


def _kind(cl: Any, handle: Any) -> DeviceKind:
    for bit, kind in (
        (cl.device_type.GPU, DeviceKind.GPU),
        (cl.device_type.ACCELERATOR, DeviceKind.ACCELERATOR),
        (cl.device_type.CPU, DeviceKind.CPU),
    ):
        if handle.type & bit:
            return kind
    return DeviceKind.OTHER


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ModuleNotFoundError:
        raise BenchmarkError("pyopencl is not installed: pip install pyopencl") from None
    except ImportError as error:  # its library is broken
        raise BenchmarkError(f"pyopencl cannot be imported: {error}") from None
    return pyopencl


def _nothing_found(too_late: Path | None) -> str:
    """`too_late`: the vendors folder when OpenCL may have been called before it was set."""
    if too_late is not None:
        return (
            "no OpenCL device; OpenCL was used before Intel's CPU runtime could be offered: set "
            f"{_VENDORS_VARIABLE}={too_late} and start again"
        )
    return (
        "no OpenCL device: install the driver of the GPU, or for the CPU "
        f"pip install '{_EXTRA}', or the system's PoCL (pocl-opencl-icd)"
    )


def _entry_text(entry: Path) -> str:
    """What an .icd file holds; empty for one that names a file which is not there."""
    try:
        text = entry.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    named = text.strip()
    if not named or (named.startswith("/") and not Path(named).is_file()):
        return ""
    return text
