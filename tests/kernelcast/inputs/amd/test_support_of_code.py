"""`kernelcast support --machine-code` of sources, for one of AMD's architectures."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.support import check_file

EXAMPLES = Path(__file__).parents[4] / "examples"
HIP = """#include <hip/hip_runtime.h>
extern "C" __device__ float __ocml_tanpi_f32(float);
extern "C" __global__ void plain(float *x) { x[threadIdx.x] *= 2.0f; }
extern "C" __global__ void of_turns(float *x) { x[threadIdx.x] = __ocml_tanpi_f32(x[threadIdx.x]); }
"""


@pytest.mark.parametrize("architecture", ["gfx803", "gfx90a", "gfx1100"])
@pytest.mark.parametrize("suffix", ["cl", "ptx"])
def test_sources_for_all_gpus_are_checked_as_code(architecture: str, suffix: str) -> None:
    file = EXAMPLES / "saxpy" / f"saxpy.{suffix}"
    found = check_file(file, CompilerOptions(architecture), is_native=True)
    assert [(kernel.name, kernel.code, kernel.is_supported) for kernel in found.kernels] == [
        ("saxpy", architecture, True)
    ]


def test_what_the_library_lacks_is_named_of_code_alone(tmp_path: Path) -> None:
    file = tmp_path / "k.hip"
    file.write_text(HIP)
    options = CompilerOptions("gfx90a")
    as_source = {kernel.name: kernel for kernel in check_file(file, options).kernels}
    assert as_source["of_turns"].is_supported
    assert not as_source["of_turns"].code
    found = {kernel.name: kernel for kernel in check_file(file, options, is_native=True).kernels}
    assert found["plain"].is_supported
    assert found["plain"].code == "gfx90a"
    (reason,) = found["of_turns"].missing
    assert "there is no function '__ocml_tanpi_f32' for AMD's GPUs here" in reason.message
