"""Long stretches of LLVM IR that a module has once, as a function, however often it needs them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["outlined"]


def outlined(
    code: LaneCode,
    name: str,
    parameters: Sequence[tuple[str, str]],
    results: Sequence[str],
    write: Callable[[LaneCode, list[str]], Sequence[str]],
) -> tuple[str, ...]:
    """Emits the call of a function without side effects; its results, vectors of all lanes.

    `parameters`: the LLVM type of an element and the vector that is passed, of each; `results`:
    types of elements. `write` writes the body from the names of its parameters and returns the
    results. Functions of one name and as many lanes are the same.
    """
    symbol = f"@{name}.{code.lanes}"
    kinds = [code.type(kind) for kind in results]
    result = f"{{ {', '.join(kinds)} }}"
    if symbol not in code.declarations:
        numbers = itertools.count()
        body = LaneCode(code.lanes, [], code.declarations, lambda: f"%v{next(numbers)}")
        names = [f"%p{number}" for number in range(len(parameters))]
        found = "poison"
        for number, (kind, value) in enumerate(zip(kinds, write(body, names), strict=True)):
            found = body.op(f"insertvalue {result} {found}, {kind} {value}, {number}")
        body.do(f"ret {result} {found}")
        taken = _listed(code, parameters, names)
        header = f"define internal {result} {symbol}({taken}) noinline nounwind {{"
        code.declarations[symbol] = "\n".join([header, *body.lines, "}"])
    passed = _listed(code, parameters, [value for _, value in parameters])
    made = code.op(f"call {result} {symbol}({passed})")
    return tuple(code.op(f"extractvalue {result} {made}, {n}") for n in range(len(kinds)))


def _listed(code: LaneCode, parameters: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    pairs = zip(parameters, names, strict=True)
    return ", ".join(f"{code.type(kind)} {name}" for (kind, _), name in pairs)
