"""printf in kernels, against Python's own formatting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelcast.ptx_frontend.llvm.builtins import is_builtin
from kernelcast.simcore.engine import ENGINES
from tests.ptx_frontend.llvm.builtins.verification import kernel_of, run_call

every_engine = pytest.mark.parametrize("engine", sorted(ENGINES))


def _printed(operands: list[Any], engine: str) -> tuple[str, Any]:
    """What all threads print, and the results."""
    written: list[str] = []
    out = np.full(3, -1, np.int32)
    kernel = kernel_of("printf", operands, (np.int32, 1))
    run_call(kernel, operands, out, engine, written.append)
    return "".join(written), out


@every_engine
def test_arguments_of_every_width(engine: str) -> None:
    i, d = np.array([1, -2, 3], np.int32), np.array([0.5, -1.25, 1e9])
    wide, f = np.array([2**40, -1, 0], np.int64), np.array([1.5, 2.5, -3.5], np.float32)
    byte = np.array([-1, 5, 127], np.int8)
    text, out = _printed(["%d|%g|%lld|%f|%d|%s|%%\n", i, d, wide, f, byte, "end"], engine)
    rows = zip(i, d, wide, f, byte, strict=True)
    wanted = (f"{a}|{b:g}|{c}|{x:f}|{e}|end|%\n" for a, b, c, x, e in rows)
    assert text == "".join(wanted)
    assert not out.any()


@every_engine
def test_a_format_alone(engine: str) -> None:
    assert _printed(["line\n"], engine)[0] == "line\n" * 3


@every_engine
def test_vectors_of_every_length(engine: str) -> None:
    floats = np.array([[1.5, -2.25, 3, 4], [0, 1, 2, 3], [9, 8, 7, 6.5]], np.float32)
    doubles = np.array([[1e300, -0.5], [1, 2], [3, 4]])
    halves = np.array([[0.5, 1.5, 2.5], [1, 2, 3], [4, 5, 6]], np.float16)
    bytes_ = np.array([[-1, 127], [0, 1], [2, 3]], np.int8)
    shorts = np.arange(48, dtype=np.int16).reshape(3, 16) - 20
    ints = np.array([[-7, 70000]] * 3, np.int32)
    longs = np.array([[2**40, -(2**50)]] * 3, np.int64)
    template = "%5.2v4hlf|%v2lg|%v3hf|%v2hhd|%v2hhu|%+v16hd|%#v2hlx|%v2ld|%d;"
    last = np.array([1, 2, 3], np.int32)
    operands = [template, floats, doubles, halves, bytes_, bytes_, shorts, ints, longs, last]
    text, _ = _printed(operands, engine)
    wanted = ""
    for row in range(3):
        columns = [
            ",".join(f"{x:5.2f}" for x in floats[row]),
            ",".join(f"{x:g}" for x in doubles[row]),
            ",".join(f"{x:f}" for x in halves[row].astype(float)),
            ",".join(str(x) for x in bytes_[row]),
            ",".join(str(x) for x in bytes_[row].view(np.uint8)),
            ",".join(f"{x:+d}" for x in shorts[row]),
            ",".join(f"{x:#x}" for x in ints[row].view(np.uint32)),
            ",".join(str(x) for x in longs[row]),
            str(last[row]),
        ]
        wanted += "|".join(columns) + ";"
    assert text == wanted


def test_it_is_known() -> None:
    assert is_builtin("printf")
    assert is_builtin("_Z3sinf")
    assert is_builtin("barrier")
    assert not is_builtin("_Z4sinef")
    assert not is_builtin("sprintf")
