"""Floating-point operations: basic ones of each precision, functions, native functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.compute.operations import SEEDS, Operation, States, Step
from kernelcast.opencl_bench.target import Feature

__all__ = ["SPECIAL_FUNCTIONS", "basic", "functions", "native_functions"]

SPECIAL_FUNCTIONS = ("fp32_exp", "fp32_log", "fp32_sin")
"""What stands for all that a GPU's special function units compute."""

_POWERS = 2.0 ** (np.arange(SEEDS) % 5 - 2)
"""1/4 to 4: sums, products, quotients and reciprocals of them are exact."""
_DTYPES: dict[str, npt.DTypeLike] = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}
_NEEDS = {"fp16": frozenset({Feature.FP16}), "fp64": frozenset({Feature.FP64})}
_UNREACHED = 1000.0
"""Larger than all values of sums and products."""
_NATIVE_TOLERANCE = 1e-2
"""OpenCL leaves the accuracy of native functions to the device."""
_TOLERANCES = {"fp16": 1e-2, "fp32": 1e-4, "fp64": 1e-10}


def basic(precision: str) -> tuple[Operation, ...]:
    """Multiply-add, add, multiply: their values are exact in each precision."""

    def build(name: str, what: str, values: tuple[float, ...], odd: Step, even: Step) -> Operation:
        counted = 2 if name == "multiply_add" else 1
        return _operation(precision, name, what, values, odd, even, counted=counted)

    return (
        build(
            "multiply_add",
            "x = x * a + b",
            (-1.0, 3.0, -1.0, 3.0),
            lambda x, y, o: (x * o[0] + o[1], y),
            lambda x, y, o: (x * o[2] + o[3], y),
        ),
        build(
            "add",
            "x = x + a",
            (1.5, -1.5, _UNREACHED, 0.0),
            lambda x, y, o: (x + o[0], y),
            lambda x, y, o: (x + o[1], y),
        ),
        build(
            "multiply",
            "x = x * a",
            (2.0, 0.5, _UNREACHED, 0.0),
            lambda x, y, o: (x * o[0], y),
            lambda x, y, o: (x * o[1], y),
        ),
    )


def functions(precision: str) -> tuple[Operation, ...]:
    """Division and the functions of OpenCL C of full accuracy."""
    return (
        _division(precision, "division", "x = a / x", _TOLERANCES[precision]),
        *(
            _iterated(
                precision,
                *function,
                is_typical=f"{precision}_{function[0]}" in SPECIAL_FUNCTIONS,
            )
            for function in _FUNCTIONS
        ),
    )


def native_functions() -> tuple[Operation, ...]:
    """The `native_` functions, which exist in single precision only."""
    return (
        _division("fp32", "native_division", "x = native_divide(a, x)", _NATIVE_TOLERANCE),
        *(
            _iterated(
                "fp32",
                f"native_{name}",
                f"native_{what}",
                step,
                operand,
                tolerance=_NATIVE_TOLERANCE,
            )
            for name, what, step, operand in (_RECIP, *_FUNCTIONS)
        ),
    )


_Function = tuple[str, str, Callable[[States, States], States], float]

_RECIP: _Function = ("recip", "recip(x)", lambda x, a: 1 / x, 0.0)
_FUNCTIONS: tuple[_Function, ...] = (
    ("sqrt", "sqrt(x)", lambda x, a: np.sqrt(x), 0.0),
    ("rsqrt", "rsqrt(x)", lambda x, a: 1 / np.sqrt(x), 0.0),
    ("sin", "sin(x + a), so with an addition", lambda x, a: np.sin(x + a), 1.0),
    ("exp", "exp(-x)", lambda x, a: np.exp(-x), 0.0),
    ("log", "log(x + a), so with an addition", lambda x, a: np.log(x + a), 2.0),
)
"""Name, what a step is, the step, operand a. Iterated they contract to one value."""


def _iterated(
    precision: str,
    name: str,
    what: str,
    step: Callable[[States, States], States],
    operand: float,
    **extra: Any,
) -> Operation:
    def both(x: States, y: States, o: States) -> tuple[States, States]:
        return step(x, o[0]), y

    extra.setdefault("tolerance", _TOLERANCES[precision])
    operands = (operand, 0.0, 0.0, 0.0)
    return _operation(precision, name, what, operands, both, both, is_function=True, **extra)


def _division(precision: str, name: str, what: str, tolerance: float) -> Operation:
    """Twice a / x is x again, exactly so for powers of two."""
    return _operation(
        precision,
        name,
        what,
        (4.0, 4.0, 0.0, 0.0),
        lambda x, y, o: (o[0] / x, y),
        lambda x, y, o: (o[1] / x, y),
        tolerance=tolerance,
        is_function=True,
    )


def _operation(
    precision: str,
    name: str,
    what: str,
    operands: tuple[float, ...],
    odd: Step,
    even: Step,
    **extra: Any,
) -> Operation:
    dtype = _DTYPES[precision]
    return Operation(
        f"{precision}_{name}",
        _POWERS.astype(dtype),
        np.array(operands, dtype),
        odd,
        even,
        what,
        needs=_NEEDS.get(precision, frozenset()),
        **extra,
    )
