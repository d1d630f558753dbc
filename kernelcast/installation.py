"""What is installed beside kernelcast, and what each part adds: compilers, tools, libraries."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.shipped_files import examples_folder, validation_folder

__all__ = ["Component", "components"]

_C_COMPILERS = ("cc", "gcc", "clang")
_PACKAGES = (
    ("triton", "kernels of Triton, run, estimated and tuned", "pip install triton"),
    ("torch", "tensors and modules of PyTorch", "pip install torch"),
    ("numba-cuda", "kernels of Numba", "pip install 'numba-cuda[cu13]'"),
    ("pandas", "results as tables, `.to_frame()`", "pip install 'kernelcast[pandas]'"),
    ("pystencils", "stencils of pystencils", "pip install 'kernelcast[pystencils]'"),
)


@dataclass(frozen=True, slots=True)
class Component:
    """One part: what is there of it, empty where it is missing, what it adds, how to get it.

    `place` is the file or folder where it is.
    """

    name: str
    found: str
    adds: str
    how: str = ""
    place: str = ""

    @property
    def is_found(self) -> bool:
        """Whether the part is there."""
        return bool(self.found)


def components() -> Iterator[Component]:
    """All parts in the order of how much they add; looking for them executes some programs."""
    yield Component("Python", platform.python_version(), "all of kernelcast")
    yield _simulators()
    yield _checked("CUDA C++", "kernels in .cu files", "pip install 'kernelcast[cuda]'", _nvrtc)
    yield from _assemblers()
    for language, suffix in (("OpenCL C", ".cl"), ("HIP", ".hip")):
        adds = f"kernels in {suffix} files"
        yield _checked(language, adds, "apt install clang", partial(_clang, language))
    yield _llvm()
    yield _c_compiler()
    for package, adds, how in _PACKAGES:
        yield _checked(package, adds, how, partial(_package, package))
    yield _checked(
        "OpenCL devices",
        "`kernelcast bench` measures them",
        "install the driver of a GPU, or pip install 'kernelcast[opencl-cpu]' for the CPU",
        _opencl_devices,
    )
    yield _store()
    examples = examples_folder()
    found, place = ("there", str(examples)) if examples.is_dir() else ("", "")
    yield Component("examples", found, "`kernelcast examples` copies them", "install anew", place)
    yield _checked(
        "validation data",
        "`kernelcast validate`: against measured times",
        "work in a clone, or unpack the source distribution",
        lambda: ("there", str(validation_folder())),
    )


def _checked(name: str, adds: str, how: str, find: Callable[[], tuple[str, str]]) -> Component:
    """What `find` finds, and where; missing where it raises an error."""
    try:
        found, place = find()
        return Component(name, found, adds, how, place)
    except (KernelcastError, metadata.PackageNotFoundError, OSError):
        return Component(name, "", adds, how)


def _simulators() -> Component:
    from kernelcast.simcore.host.ready_code import INSTALLED

    found = "ready" if any(INSTALLED.glob("*")) else ""
    adds = "the first estimate in seconds"
    return Component("compiled simulators", found, adds, "python -m kernelcast.machine_code")


def _package(name: str) -> tuple[str, str]:
    return metadata.version(name), ""


def _nvrtc() -> tuple[str, str]:
    from kernelcast.inputs.cuda.nvrtc_library import cuda_header_folders, load_nvrtc

    load_nvrtc()
    folders = cuda_header_folders()
    return ("NVRTC", str(folders[0])) if folders else ("", "")


def _assemblers() -> Iterator[Component]:
    from kernelcast.inputs.native.installed_tools import installed_tools

    for tool in installed_tools():
        adds = f"truer times, of machine code of {tool.architectures}"
        found = "" if tool.path is None else tool.version or "there"
        yield Component(tool.name, found, adds, tool.how, str(tool.path or ""))


def _clang(language: str) -> tuple[str, str]:
    from kernelcast.inputs.clang import find_clang, find_newest_clang

    clang = find_newest_clang(language) if language == "HIP" else find_clang(language)
    return f"clang {clang.version}", clang.program


def _llvm() -> Component:
    from kernelcast.simcore.host.amd_disassembly import LLVM_VARIABLE, llvm_library

    found = llvm_library()
    how = f"apt install clang-19, or name libLLVM in {LLVM_VARIABLE}"
    return Component("LLVM", Path(found).name, "code objects of AMD's GPUs", how, found)


def _c_compiler() -> Component:
    place = next((path for name in _C_COMPILERS if (path := shutil.which(name))), "")
    found = Path(place).name
    adds = "whole programs: `kernelcast capture`, `build`"
    return Component("C compiler", found, adds, "apt install gcc", place)


def _opencl_devices() -> tuple[str, str]:
    from kernelcast.opencl_bench.drivers import opencl_devices

    return ", ".join(item.name for item in opencl_devices()), ""


def _store() -> Component:
    from kernelcast.store.results import folder_path, is_switched_on

    folder = folder_path()
    adds = "nothing is executed or simulated twice"
    if not is_switched_on():
        return Component("store", "", adds, "unset KERNELCAST_STORE")
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    is_writable = os.access(nearest, os.W_OK)
    how = f"make {nearest} writable, or name a folder in KERNELCAST_CACHE"
    found = "there" if is_writable else ""
    return Component("store", found, adds, how, str(folder))
