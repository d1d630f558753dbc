"""CUDA's mathematical functions as machine code against the PTX that nvcc makes of them.

They take all that machine code has for them: tables in constant bank 4, local memory for long
range reductions, slow paths behind calls, and special functions as first approximations.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, EXACT, needs_tools, outputs

_SINGLE = {
    "sine": "sinf(x)",
    "exponential": "expf(x)",
    "logarithm": "logf(x)",
    "power": "powf(x, y)",
    "error": "erff(x)",
    "gamma": "tgammaf(x)",
    "remainder": "fmodf(x, y)",
}
_DOUBLE = {
    "wide_sine": "sin(x)",
    "wide_exponential": "exp(x)",
    "wide_power": "pow(x, y)",
    "wide_gamma": "tgamma(x)",
    "wide_quotient": "x / y",
    "wide_root": "sqrt(x)",
}
_KERNEL = """extern "C" __global__ void of_{name}(const {type}* a, const {type}* b, {type}* out) {{
  int i = threadIdx.x; {type} x = a[i], y = b[i]; out[i] = {value}; (void)y; }}
"""
_LANES = 512
_HARD = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 10.0, 100.0, -100.0, 1e5, 1e6, 1e10, 1e20, 3e38),
    *(np.inf, -np.inf, np.nan, 1e-40, 1e-30, 88.0, -87.0, -104.0, np.pi, 105615.0, 1e-3, 35.0),
)


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no nvcc")
    folder: Path = tmp_path_factory.mktemp("math")
    source, result = folder / "math.cu", folder / "math.ptx"
    kinds = (("float", _SINGLE), ("double", _DOUBLE))
    source.write_text(
        "".join(
            _KERNEL.format(name=name, type=type_, value=value)
            for type_, functions in kinds
            for name, value in functions.items()
        )
    )
    command = [compiler, "-ptx", "-arch=compute_80", "-fmad=false", str(source), "-o", str(result)]
    subprocess.run(command, check=True, capture_output=True)
    return result.read_text()


def _operands(type_: type[np.floating]) -> npt.NDArray[np.floating]:
    draw = np.random.default_rng(3)
    found = draw.choice(np.array(_HARD), (2, _LANES))
    quarter = _LANES // 4
    shape = (2, quarter)
    found[:, :quarter] = draw.standard_normal(shape)
    found[:, quarter : 2 * quarter] = draw.uniform(-100, 100, shape)
    found[:, 2 * quarter : 3 * quarter] = draw.standard_normal(shape) * 2.0 ** draw.integers(
        -30, 60, shape
    )
    return found.astype(type_)


def _modules(ptx: str, architecture: str) -> tuple[Module, Module]:
    needs_tools(architecture)
    source = read_ptx(ptx, "math.ptx")
    machine = assembled_module(ptx, architecture, "math.ptx", source, EXACT)
    for reasons in machine.rejected.values():
        raise reasons[0]
    return source, machine


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_functions_give_the_bits_of_their_ptx(ptx: str, architecture: str) -> None:
    source, machine = _modules(ptx, architecture)
    for names, type_ in ((_SINGLE, np.float32), (_DOUBLE, np.float64)):
        a, b = _operands(type_)
        launch = Launch(
            grid=(1, 1, 1),
            thread_block=(_LANES, 1, 1),
            arguments=(a, b, np.zeros(_LANES, type_)),
        )
        for name in names:
            wanted = outputs(source.kernels[f"of_{name}"], launch, "reference")[-1]
            for engine in ENGINES if architecture == "sm_80" else ENGINES[:1]:
                found = outputs(machine.kernels[f"of_{name}"], launch, engine)[-1]
                assert np.array_equal(_bits(wanted), _bits(found)), f"{name} on {engine}"


def _bits(values: npt.NDArray[np.floating]) -> npt.NDArray[np.unsignedinteger]:
    """The bits, one NaN for all."""
    plain = np.where(np.isnan(values), values.dtype.type(np.nan), values)
    return plain.view(f"u{values.dtype.itemsize}")
