"""`bfloat` of LLVM IR: arithmetic, comparisons, conversions and functions, beside ml_dtypes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

Array = npt.NDArray[Any]
BFLOAT = ml_dtypes.bfloat16
COUNT = 256


def single(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function in single precision, rounded once."""
    return lambda *values: function(*(x.astype(np.float32) for x in values)).astype(BFLOAT)


def _fused(x: Array, y: Array) -> Array:
    """x y + x, exact in double precision, rounded to single and then to half as many bits."""
    wide, other = x.astype(np.float64), y.astype(np.float64)
    return np.asarray((wide * other + wide).astype(BFLOAT))


FORMS: dict[str, tuple[str, Callable[..., Array]]] = {
    "fadd": ("%r = fadd bfloat %x, %y", single(np.add)),
    "fsub": ("%r = fsub nsz bfloat %x, %y", single(np.subtract)),
    "fmul": ("%r = fmul bfloat %x, %y", single(np.multiply)),
    "fdiv": ("%r = fdiv bfloat %x, %y", single(np.divide)),
    "fneg": ("%r = fneg bfloat %x", single(np.negative)),
    "constant": ("%r = fadd bfloat %x, 0xR4040", single(lambda x, _: x + np.float32(3))),
    "decimal": ("%r = fmul bfloat %x, 2.500000e+00", single(lambda x, _: x * np.float32(2.5))),
    "fma": ("%r = call bfloat @llvm.fma.bf16(bfloat %x, bfloat %y, bfloat %x)", _fused),
    "fabs": ("%r = call bfloat @llvm.fabs.bf16(bfloat %x)", single(lambda x, _: np.abs(x))),
    "sqrt": (
        "%a = call bfloat @llvm.fabs.bf16(bfloat %x)\n%r = call bfloat @llvm.sqrt.bf16(bfloat %a)",
        single(lambda x, _: np.sqrt(np.abs(x))),
    ),
    "floor": ("%r = call bfloat @llvm.floor.bf16(bfloat %x)", single(lambda x, _: np.floor(x))),
    "maxnum": ("%r = call bfloat @llvm.maxnum.bf16(bfloat %x, bfloat %y)", single(np.maximum)),
    "minimum": ("%r = call bfloat @llvm.minimum.bf16(bfloat %x, bfloat %y)", single(np.minimum)),
    "exp2": ("%r = call bfloat @llvm.exp2.bf16(bfloat %x)", single(lambda x, _: np.exp2(x))),
    "fcmp": (
        "%p = fcmp ogt bfloat %x, %y\n%r = select i1 %p, bfloat %x, bfloat 0.0",
        single(lambda x, y: np.where(x > y, x, np.float32(0))),
    ),
    "uno": (
        "%p = fcmp uge bfloat %x, %y\n%r = select i1 %p, bfloat %x, bfloat %y",
        single(np.maximum),
    ),
    "through float": (
        "%a = fpext bfloat %x to float\n%b = fadd float %a, %a\n%r = fptrunc float %b to bfloat",
        single(lambda x, _: x + x),
    ),
    "through double": (
        "%a = fpext bfloat %x to double\n%b = fmul double %a, 3.0\n"
        "%r = fptrunc double %b to bfloat",
        single(lambda x, _: x * np.float32(3)),
    ),
    "through integers": (
        "%a = fptosi bfloat %x to i32\n%r = sitofp i32 %a to bfloat",
        single(lambda x, _: np.trunc(x) + np.float32(0)),
    ),
    "bits": (
        "%a = bitcast bfloat %x to i16\n%b = xor i16 %a, -32768\n%r = bitcast i16 %b to bfloat",
        single(lambda x, _: -x),
    ),
    "vector": (
        "%a = insertelement <2 x bfloat> poison, bfloat %x, i32 0\n"
        "%b = insertelement <2 x bfloat> %a, bfloat %y, i32 1\n"
        "%c = fadd <2 x bfloat> %b, %b\n%d = extractelement <2 x bfloat> %c, i32 0\n"
        "%e = extractelement <2 x bfloat> %c, i32 1\n%r = fsub bfloat %d, %e",
        lambda x, y: single(np.subtract)(single(np.add)(x, x), single(np.add)(y, y)),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_results_are_those_of_ml_dtypes(tmp_path: Path, name: str) -> None:
    lines, wanted = FORMS[name]
    names = ("fma", "fabs", "sqrt", "floor", "maxnum", "minimum", "exp2")
    arguments = {"fma": 3, "maxnum": 2, "minimum": 2}
    declared = "\n".join(
        f"declare bfloat @llvm.{function}.bf16({', '.join(['bfloat'] * count)})"
        for function, count in ((x, arguments.get(x, 1)) for x in names)
    )
    pointer = "ptr addrspace(1)"
    file = tmp_path / "k.ll"
    file.write_text(f"""
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
{declared}
define amdgpu_kernel void @combine({pointer} %from, {pointer} %with, {pointer} %to) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %px = getelementptr bfloat, {pointer} %from, i32 %lane
  %py = getelementptr bfloat, {pointer} %with, i32 %lane
  %pr = getelementptr bfloat, {pointer} %to, i32 %lane
  %x = load bfloat, {pointer} %px
  %y = load bfloat, {pointer} %py
  {lines}
  store bfloat %r, {pointer} %pr
  ret void
}}
""")
    random = np.random.default_rng(len(name))
    x, y = (random.normal(0, 9, COUNT).astype(BFLOAT) for _ in range(2))
    kernel = kc.load(file)["combine"]
    for engine in ("reference", "jit"):
        found = np.zeros(COUNT, np.uint16)
        given = [x.view(np.uint16), y.view(np.uint16), found]
        kernel.run(grid=1, block=COUNT, args=given, engine=engine)
        assert np.array_equal(found, wanted(x, y).view(np.uint16))
