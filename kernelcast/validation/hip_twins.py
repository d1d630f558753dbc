"""Workloads from their CUDA C++ text as HIP, for machine code of AMD's GPUs.

The text is what the PTX beside it was made of. HIP takes it as it is: a file that includes it,
headers of HIP's under CUDA's names, exchanges of 32 lanes without masks, which have 64 bits there,
and vectors of CUDA 13 by their older names.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.workload.workload import Workload

__all__ = ["as_hip"]

_EXCHANGE = "#define __shfl{0}_sync(mask, value, lane) __shfl{0}(value, lane, 32)\n"
_VECTORS = "".join(f"#define {name}4_16a {name}4\n" for name in ("double", "make_double"))
"""Four numbers at multiples of 16 bytes, which is what those of HIP are."""
_HEADERS = {"cuda_fp16.h": "hip/hip_fp16.h", "cuda_bf16.h": "hip/hip_bf16.h"}


@cache
def _folder() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A folder for the texts of this process, with headers under CUDA's names."""
    kept = tempfile.TemporaryDirectory(prefix="kernelcast-hip-")
    folder = Path(kept.name)
    for name, header in _HEADERS.items():
        (folder / name).write_text(f"#include <{header}>\n")
    return kept, folder


def as_hip(workload: Workload) -> Workload:
    """The workload with its kernel from the `.cu` file beside its source.

    InputError when there is none.
    """
    kernel = workload.kernel
    text = kernel.source.with_suffix(".cu")
    if not text.is_file():
        raise InputError(f"{workload.path.name}: there is no CUDA text beside {kernel.source.name}")
    _, folder = _folder()
    file = folder / f"{text.stem}.hip"
    exchanges = "".join(map(_EXCHANGE.format, ("", "_up", "_down", "_xor")))
    added = f"{exchanges}{_VECTORS}"
    file.write_text(f'#include <hip/hip_runtime.h>\n{added}#include "{text.resolve()}"\n')
    options = replace(kernel.compilation, include=(*kernel.compilation.include, folder))
    return replace(workload, kernel=replace(kernel, source=file, compilation=options))
