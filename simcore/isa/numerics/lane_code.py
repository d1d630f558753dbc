"""Straight-line LLVM IR over the lanes of a warp: what the opcode table writes its meanings in.

A value is the text of an LLVM operand: a name (`%12`) or a constant. With `lanes` 1 values are
scalars, the same for the whole warp; else they are vectors of that many lanes. Opcodes are written
once for both.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = ["LLVM_TYPES", "LaneCode", "float_constant"]

_MODES = {"rz": (0, "towardzero"), "rp": (2, "upward"), "rm": (3, "downward")}
"""LLVM's number and name of the rounding modes; 1 is to nearest even."""

LLVM_TYPES: dict[ScalarType, str] = {
    t: {1: "i1", 16: "half", 32: "float", 64: "double"}[t.bits]
    if t.is_float or t.kind is Kind.PREDICATE
    else f"i{t.bits}"
    for t in ScalarType
}
"""The LLVM type of one lane; integers of all kinds share the type of their width."""


def float_constant(value: float) -> str:
    """A `float` or `double` constant in LLVM's exact notation (the bits of the double)."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class LaneCode:
    """Collects instructions of a function; `declarations` are shared by the module.

    `fresh` makes names that are unique in the function.
    """

    def __init__(
        self,
        lanes: int,
        lines: list[str],
        declarations: dict[str, str],
        fresh: Callable[[], str],
    ) -> None:
        self.lanes = lanes
        self.lines = lines
        self.declarations = declarations
        self.fresh = fresh

    def with_lanes(self, lanes: int) -> LaneCode:
        """A view of this function's code for values of another lane count."""
        return type(self)(lanes, self.lines, self.declarations, self.fresh)

    def type(self, of: ScalarType | str) -> str:
        """`<32 x i32>` of s32 or of "i32"; `i32` with one lane."""
        lane = of if isinstance(of, str) else LLVM_TYPES[of]
        return lane if self.lanes == 1 else f"<{self.lanes} x {lane}>"

    def op(self, text: str) -> str:
        """Appends an instruction with a result and returns the result's name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Appends an instruction without a result."""
        self.lines.append(f"  {text}")

    def splat(self, lane_type: ScalarType | str, constant: str | int) -> str:
        """The constant in every lane."""
        lane = lane_type if isinstance(lane_type, str) else LLVM_TYPES[lane_type]
        if self.lanes == 1:
            return str(constant)
        return f"splat ({lane} {constant})"

    def real(self, lane_type: ScalarType | str, value: float) -> str:
        """A floating-point constant in every lane; `half` values must be exact in half."""
        lane = lane_type if isinstance(lane_type, str) else LLVM_TYPES[lane_type]
        if lane == "half":
            bits = struct.unpack("<H", struct.pack("<e", value))[0]
            return self.splat(lane, f"0xH{bits:04X}")
        return self.splat(lane, float_constant(value))

    def binary(self, name: str, lane_type: ScalarType | str, a: str, b: str) -> str:
        """`name` may carry flags: binary("add", U32, a, b), binary("icmp ult", U32, a, b)."""
        return self.op(f"{name} {self.type(lane_type)} {a}, {b}")

    def select(self, lane_type: ScalarType | str, condition: str, a: str, b: str) -> str:
        """Emits a `select` by a vector of `i1`; returns the result's name."""
        kind = self.type(lane_type)
        return self.op(f"select {self.type('i1')} {condition}, {kind} {a}, {kind} {b}")

    def cast(self, name: str, source: ScalarType | str, a: str, target: ScalarType | str) -> str:
        """zext, sext, trunc, bitcast, fpext, fptrunc, sitofp, ...; nothing for equal types."""
        here, there = self.type(source), self.type(target)
        return a if here == there else self.op(f"{name} {here} {a} to {there}")

    def intrinsic(
        self, name: str, result: ScalarType | str, operands: list[tuple[str, str]], suffix: str = ""
    ) -> str:
        """Calls `llvm.<name>.<type of result or suffix>`; operands are (LLVM type, value)."""
        kind = self.type(result)
        mangled = f"@llvm.{name}.{suffix or self.mangle(result)}"
        types = ", ".join(operand_type for operand_type, _ in operands)
        self.declarations[mangled] = f"declare {kind} {mangled}({types})"
        arguments = ", ".join(f"{operand_type} {value}" for operand_type, value in operands)
        return self.op(f"call {kind} {mangled}({arguments})")

    def directed(self, lane: str, operation: str, operands: tuple[str, ...], mode: str) -> str:
        """An operation on `float` or `double` rounded once as `mode` says: `rz`, `rp` or `rm`.

        Calls a function of its own that sets the rounding mode of the processor and restores it.
        """
        kind, number, word = self.type(lane), *_MODES[mode]
        types = ", ".join([kind] * len(operands))
        intrinsic = f"@llvm.experimental.constrained.{operation}.{self.mangle(lane)}"
        self.declarations[intrinsic] = f"declare {kind} {intrinsic}({types}, metadata, metadata)"
        self.declarations["@llvm.set.rounding"] = "declare void @llvm.set.rounding(i32)"
        name = f"@rounded.{operation}.{mode}.{self.mangle(lane)}"
        parameters = ", ".join(f"{kind} %{i}" for i in range(len(operands)))
        self.declarations[name] = (
            f"define internal {kind} {name}({parameters}) noinline strictfp {{\n"
            f"  call void @llvm.set.rounding(i32 {number}) strictfp\n"
            f"  %result = call {kind} {intrinsic}({parameters}, "
            f'metadata !"round.{word}", metadata !"fpexcept.strict") strictfp\n'
            f"  call void @llvm.set.rounding(i32 1) strictfp\n"
            f"  ret {kind} %result\n}}"
        )
        arguments = ", ".join(f"{kind} {operand}" for operand in operands)
        return self.op(f"call {kind} {name}({arguments})")

    def mangle(self, of: ScalarType | str) -> str:
        """`v32f32`, `i64`: how intrinsics spell a type."""
        lane = of if isinstance(of, str) else LLVM_TYPES[of]
        short = {"half": "f16", "float": "f32", "double": "f64"}.get(lane, lane)
        return short if self.lanes == 1 else f"v{self.lanes}{short}"
