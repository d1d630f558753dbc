"""Builds the libraries of `client` with the C compiler of the host.

It imports nothing of kernelcast: setup.py runs it before there is a package.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CLIENT_SOURCES", "CLOCK", "BuildFailed", "build", "key"]

CLIENT_SOURCES = Path(__file__).parent / "client"
_KERNELS = CLIENT_SOURCES / "kernels"
"""Kernels in place of those of closed libraries, which the libraries hold as PTX."""
_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = (
    *("-D_GNU_SOURCE", "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"),
    "-Wl,-z,defs",
)
_CORE = "libkernelcast_client.so"
CLOCK = "libkernelcast_clock.so"
"""What makes the clocks of a program tell predicted time."""


class BuildFailed(Exception):
    """There is no compiler, or it refuses a source; the text is for people."""


@dataclass(frozen=True, slots=True)
class _Library:
    """One library: its file and soname, its sources, and how they are compiled."""

    name: str
    sources: Sequence[str]
    flags: Sequence[str] = ()
    version: str = ""
    """The version of all of its symbols, which programs ask for by name."""
    names: str = "cuda*; __cuda*"
    """What its symbols are called."""
    script: str = ""
    """The file that says the versions of its symbols."""


def _runtime(major: int, soname: str) -> _Library:
    parts = ("launch", "functions", "memory", "device", "streams", "textures", "graphs", "nodes")
    sources = tuple(f"cudart_{part}.c" for part in (*parts, "threads", "refused"))
    return _Library(soname, sources, (f"-DCUDART_MAJOR={major}",), soname)


def _driver() -> _Library:
    parts = ("device", "context", "memory", "copies", "streams", "modules", "launch", "textures")
    sources = (*parts, "tensor_maps", "graphs", "entry", "refused")
    return _Library("libcuda.so.1", tuple(f"driver_{part}.c" for part in sources))


def _opencl() -> _Library:
    parts = ("objects", "dispatch", "platform", "queues", "memory", "transfers", "programs")
    sources = (*parts, "kernels", "launches", "images", "image_transfers")
    return _Library(
        "libOpenCL.so.1",
        tuple(f"opencl_{part}.c" for part in sources),
        # A loader that has the same functions may be in the process.
        ("-Wl,-Bsymbolic",),
        script="opencl.map",
    )


def _blas(major: int, number: int) -> tuple[_Library, _Library]:
    parts = ("handle", "vectors", "matrices", "gemm", "refused")
    sources = tuple(f"cublas_{part}.c" for part in parts)
    flags = (f"-DCUBLAS_MAJOR={major}", f"-DCUBLAS_NUMBER={number}")
    name, light = f"libcublas.so.{major}", f"libcublasLt.so.{major}"
    return (
        _Library(name, sources, flags, name, "cublas*"),
        _Library(light, ("cublaslt.c",), flags, light, "cublasLt*"),
    )


_CORE_PARTS = ("client", "errors", "settings", "arrays", "launches", "kernels", "refusals")
_LIBRARIES = (
    _Library(_CORE, tuple(f"{part}.c" for part in _CORE_PARTS)),
    _Library(CLOCK, ("clock.c",)),
    _driver(),
    _opencl(),
    _runtime(11, "libcudart.so.11.0"),
    _runtime(12, "libcudart.so.12"),
    _runtime(13, "libcudart.so.13"),
    *_blas(11, 11000),
    *_blas(12, 120000),
    *_blas(13, 130000),
    _Library("libcurand.so.10", ("curand.c",), version="libcurand.so.10", names="curand*"),
)


def build(folder: Path) -> Path:
    """Compiles all libraries into a folder; BuildFailed with the reason."""
    compiler = next((path for name in _COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        raise BuildFailed(
            "capture needs a C compiler to build its libraries, or a wheel that brings them: "
            f"none of {', '.join(_COMPILERS)} is on the PATH"
        )
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    partial.mkdir(parents=True, exist_ok=True)
    try:
        for library in _LIBRARIES:
            _compile(compiler, library, partial)
        # What programs find that ask for the driver without a version.
        (partial / "libcuda.so").symlink_to("libcuda.so.1")
        (partial / key()).touch()
        with contextlib.suppress(OSError):  # another process was faster
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _compile(compiler: str, library: _Library, folder: Path) -> None:
    command = [compiler, *_FLAGS, *library.flags, f"-Wl,-soname,{library.name}"]
    command.append(f'-DKC_KERNEL_FOLDER="{_KERNELS}"')
    if library.version:
        script = folder / f"{library.name}.map"
        script.write_text(f"{library.version} {{ global: {library.names}; local: *; }};\n")
        command.append(f"-Wl,--version-script={script}")
    if library.script:
        command.append(f"-Wl,--version-script={CLIENT_SOURCES / library.script}")
    command += [str(CLIENT_SOURCES / source) for source in library.sources]
    if library.name != _CORE:
        command += [str(folder / _CORE), "-Wl,-rpath,$ORIGIN"]
    done = subprocess.run(
        [*command, "-lpthread", "-ldl", "-lm", "-o", str(folder / library.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailed(f"{library.name} cannot be built by {compiler}:\n{done.stderr.strip()}")


def key() -> str:
    """What the libraries are built of, as a name."""
    found = hashlib.sha256()
    patterns = ("*.[ch]", "*.map", "kernels/*.h", "kernels/*.ptx")
    for file in sorted(file for pattern in patterns for file in CLIENT_SOURCES.glob(pattern)):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    found.update(repr((_FLAGS, _LIBRARIES)).encode())
    return found.hexdigest()[:20]
