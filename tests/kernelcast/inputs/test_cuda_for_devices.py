"""CUDA C++ without an architecture is what nvcc makes of it for the GPU that is asked about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError

pytestmark = pytest.mark.usefixtures("nvrtc", "assembler")
_TELLS = 'extern "C" __global__ void tells(int *out) { out[threadIdx.x] = __CUDA_ARCH__; }\n'
_SUMS = """
extern "C" __global__ void sums(const unsigned *values, unsigned *out)
{
    out[threadIdx.x] = __reduce_add_sync(~0u, values[threadIdx.x]);
}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "k.cu"
    file.write_text(text)
    return file


def told(module: kc.LoadedModule, device: str = "quadro-rtx-4000", code: str = "source") -> int:
    """What a thread says that it was compiled for."""
    out = np.zeros(32, np.int32)
    module["tells"].run(grid=1, block=32, args=[out], devices=[device], code=code)
    return int(out[0])


def test_machine_code_is_compiled_for_its_gpu(tmp_path: Path) -> None:
    module = kc.load(written(tmp_path, _TELLS))
    assert told(module) == 750
    assert told(module, device="quadro-rtx-4000", code="native") == 750
    assert told(module, device="a100-40gb", code="native") == 800
    assert told(module, device="h100-sxm", code="native") == 900
    assert told(module, device="h100-sxm", code="source") == 750


def test_an_architecture_that_is_named_holds_for_all_gpus(tmp_path: Path) -> None:
    module = kc.load(written(tmp_path, _TELLS), arch="sm_80")
    assert told(module) == told(module, device="h100-sxm", code="native") == 800


def test_asynchronous_copies_are_some_where_the_gpu_has_them(tmp_path: Path) -> None:
    text = """#include <cuda_pipeline.h>
    extern "C" __global__ void copies(const float4 *from, float4 *to)
    {
        __shared__ float4 tile[32];
        __pipeline_memcpy_async(&tile[threadIdx.x], &from[threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        to[threadIdx.x] = tile[31 - threadIdx.x];
    }
    """
    kernel = kc.load(written(tmp_path, text))["copies"]

    def opcodes(device: str) -> set[str]:
        given, found = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
        trace = kernel.run(grid=1, block=32, args=[given, found], devices=[device], code="native")
        assert (found.reshape(32, 4) == given.reshape(32, 4)[::-1]).all()
        return {row.mnemonic.split(".")[0] for row in trace.data.instructions}

    assert "LDGSTS" in opcodes("a100-40gb")
    assert "LDGSTS" not in opcodes("quadro-rtx-4000")


def test_what_the_default_lacks_is_compiled_for_a_newer_one(tmp_path: Path) -> None:
    module = kc.load(written(tmp_path, _SUMS))
    assert module.note == "compiled for sm_80: sm_75 has not all that the source uses"
    values, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    module["sums"].run(grid=1, block=32, args=[values, out])
    assert (out == 496).all()
    with pytest.raises(CompilationError, match="__reduce_add_sync"):
        kc.load(written(tmp_path, _SUMS), arch="sm_75")


def test_what_compiles_for_none_is_refused_for_the_default(tmp_path: Path) -> None:
    text = '#if __CUDA_ARCH__ > 750\n#error "not this one"\n#endif\nint f( { return 1; }\n'
    with pytest.raises(CompilationError, match=r"k\.cu:4"):
        kc.load(written(tmp_path, text))
