"""printf in kernels, against Python's own formatting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.llvm.builtins import is_builtin
from kernelcast.ptx_frontend.llvm.builtins.verification import kernel_of, run_call
from kernelcast.simcore.engine import ENGINES

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


def test_vectors_are_refused() -> None:
    vector = np.zeros((3, 4), np.float32)
    with pytest.raises(UnsupportedInstruction, match="'printf' is not supported: of an argument"):
        kernel_of("printf", ["%v4f", vector], (np.int32, 1))


def test_it_is_known() -> None:
    assert is_builtin("printf")
    assert is_builtin("_Z3sinf")
    assert is_builtin("barrier")
    assert not is_builtin("_Z4sinef")
    assert not is_builtin("sprintf")
