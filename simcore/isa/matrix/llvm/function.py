"""Writes one function of LLVM IR with loops: what products of matrices are compiled to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode, float_constant

__all__ = ["FunctionCode"]

Array = npt.NDArray[Any]
_ALIGNMENTS = {"half": 2, "i8": 1, "i16": 2, "i32": 4, "float": 4}


class FunctionCode:
    """A function in the making; `constants` and `declarations` are global lines by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.globals: dict[str, str] = {}
        self._lines: list[str] = []
        self._places: list[str] = []
        self._numbers = count()
        self._here = "entry"

    def fresh(self) -> str:
        """A new name for an LLVM value."""
        return f"%v{next(self._numbers)}"

    def lanes(self, lanes: int) -> LaneCode:
        """Straight code of the function for vectors of so many elements."""
        return LaneCode(lanes, self._lines, self.globals, self.fresh)

    def op(self, text: str) -> str:
        """Appends an instruction with a result, and returns the result's name."""
        name = self.fresh()
        self._lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Appends an instruction without a result."""
        self._lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begins a basic block of LLVM."""
        self._lines.append(f"{name}:")
        self._here = name

    def array(self, elements: int, kind: str) -> str:
        """Memory of the function for so many elements."""
        name = self.fresh()
        self._places.append(f"  {name} = alloca [{elements} x {kind}], align 64")
        return name

    def table(self, name: str, kind: str, values: Iterable[int | float]) -> str:
        """A constant array."""
        numbers = [float_constant(v) if isinstance(v, float) else str(v) for v in values]
        items = ", ".join(f"{kind} {number}" for number in numbers)
        full = f"@{self.name}.{name}"
        self.globals[full] = (
            f"{full} = private unnamed_addr constant [{len(numbers)} x {kind}] [{items}], align 64"
        )
        return full

    def doubles(self, name: str, values: Array) -> str:
        """A constant array of doubles; NaNs and infinities too."""
        bits = np.ascontiguousarray(values, np.float64).view(np.int64).tolist()
        return self.table(name, "i64", bits)

    def place(self, kind: str, array: str, index: str) -> str:
        """The pointer to an element of an array; emits a `getelementptr`."""
        return self.op(f"getelementptr {kind}, ptr {array}, i64 {index}")

    def load(self, kind: str, array: str, index: str, align: int = 1) -> str:
        """Emits the load of one element of an array."""
        return self.op(f"load {kind}, ptr {self.place(kind, array, index)}, align {align}")

    def load_run(self, kind: str, lanes: int, array: str, index: str) -> str:
        """Neighbouring elements as a vector."""
        align = _ALIGNMENTS.get(kind, 8)
        where = self.place(kind, array, index)
        return self.op(f"load <{lanes} x {kind}>, ptr {where}, align {align}")

    def store_run(self, kind: str, lanes: int, value: str, array: str, index: str) -> None:
        """Emits the store of a vector of `lanes` elements to an array from `index` on."""
        align = _ALIGNMENTS.get(kind, 8)
        where = self.place(kind, array, index)
        self.do(f"store <{lanes} x {kind}> {value}, ptr {where}, align {align}")

    @contextmanager
    def loop(self, stop: int, step: int = 1) -> Iterator[str]:
        """Runs what is written inside for 0, step, ... below `stop`; the i64 index."""
        number = next(self._numbers)
        head, latch, done = f"h{number}", f"l{number}", f"d{number}"
        index, following = f"%i{number}", f"%n{number}"
        self.do(f"br label %{head}")
        self._lines.append(f"{head}:")
        self.do(f"{index} = phi i64 [ 0, %{self._here} ], [ {following}, %{latch} ]")
        self._here = head
        yield index
        self.do(f"br label %{latch}")
        self._lines.append(f"{latch}:")
        self.do(f"{following} = add nuw nsw i64 {index}, {step}")
        more = self.op(f"icmp ult i64 {following}, {stop}")
        self.do(f"br i1 {more}, label %{head}, label %{done}")
        self._lines.append(f"{done}:")
        self._here = done

    def splat(self, kind: str, lanes: int, value: str) -> str:
        """Emits a vector with one value in all lanes."""
        vector = f"<{lanes} x {kind}>"
        single = self.op(f"insertelement {vector} poison, {kind} {value}, i32 0")
        return self.op(
            f"shufflevector {vector} {single}, {vector} poison, <{lanes} x i32> zeroinitializer"
        )

    def definition(self, result: str, parameters: Iterable[str]) -> str:
        """The text of the function."""
        head = f"define internal {result} @{self.name}({', '.join(parameters)})"
        attributes = "noinline nounwind #0"
        return "\n".join((f"{head} {attributes} {{", "entry:", *self._places, *self._lines, "}"))
