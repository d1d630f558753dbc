"""Builds programs in CUDA C++ and C with a shared runtime, once for each content and place."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from kernelcast.program_capture.libraries import libraries
from kernelcast.simcore.host.disk_cache import cache_folder

__all__ = ["PROGRAMS", "built", "c_compiler", "cuda_home", "nvcc", "runtime_folder"]

PROGRAMS = Path(__file__).parent / "programs"
_HEADER = PROGRAMS / "check.h"
_USUAL = ("-std=c++17", "-Wno-deprecated-gpu-targets", "-diag-suppress", "177")


@cache
def cuda_home() -> Path:
    """The folder with nvcc and CUDA's headers: that of the wheel, or the one on the PATH."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for home in sorted(Path(folder).glob("cu[0-9]*"), reverse=True):
            if (home / "bin" / "nvcc").exists():
                return home
    program = shutil.which("nvcc")
    if program is None:
        pytest.skip("nvcc is not installed")
    said = subprocess.run(
        [program, "--dryrun", "-c", "x.cu"], capture_output=True, text=True, check=False
    )
    top = next(line for line in said.stderr.splitlines() if line.startswith("#$ TOP="))
    return Path(top.removeprefix("#$ TOP=")).resolve()


def nvcc() -> str:
    """The compiler for CUDA C++."""
    return str(cuda_home() / "bin" / "nvcc")


def c_compiler() -> str:
    """The compiler for C, which nvcc needs as well."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        pytest.skip("there is no C compiler")
    return found


def built(name: str, sources: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """The program of some sources; it is in the cache folder by their content and place.

    `-lineinfo` writes the place of a source into the program.
    """
    content = [(str(source), source.read_text()) for source in (*sources, _HEADER)]
    key = repr((nvcc(), _USUAL, flags, content)).encode()
    folder = cache_folder() / "capture-programs" / hashlib.sha256(key).hexdigest()[:20]
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{name}.{os.getpid()}"
        _compile(sources, flags, partial)
        partial.rename(program)
    return program


def _compile(sources: Sequence[Path], flags: Sequence[str], to: Path) -> None:
    command = [nvcc(), *_USUAL, *flags, *map(str, sources), "-o", str(to)]
    if "-cudart" not in flags:
        command += ["-cudart", "shared", "-L", str(runtime_folder(to.parent))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{' '.join(command)}\n{done.stderr}"


def runtime_folder(folder: Path) -> Path:
    """A folder whose libcudart.so is NVIDIA's own where it is there, else ours."""
    for place in (cuda_home() / "lib", cuda_home() / "lib64"):
        for real in sorted(place.glob("libcudart.so.*")):
            link = folder / "libcudart.so"
            if not link.exists():
                link.symlink_to(real)
            return folder
    return libraries()
