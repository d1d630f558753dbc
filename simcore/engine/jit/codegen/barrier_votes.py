"""Votes at barriers in the warp function: sums in the workspace, two stages at a time."""

from __future__ import annotations

from typing import TypeAlias

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance, uniform
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import BarrierResult, BarrierVote
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["BarrierVoteCode"]

Value: TypeAlias = tuple[str, ScalarType, LaneVariance]


class BarrierVoteCode:
    """Writes what a warp adds before a barrier and reads behind it."""

    def __init__(self, warp: WarpCode, registers: Registers) -> None:
        self._warp = warp
        self._registers = registers

    def contribute(self, vote: BarrierVote, mask: str) -> None:
        """Adds the lanes of `mask`: those that hold the predicate, and all."""
        warp, code = self._warp, self._warp.scalar
        value = self._registers.vector(vote.predicate, ScalarType.PRED)
        held = code.op(f"bitcast <{warp.width} x i1> {value} to {warp.mask_type}")
        if vote.negated:
            held = code.op(f"xor {warp.mask_type} {held}, -1")
        place = self._place("0")
        for number, lanes in enumerate((warp.both_masks(held, mask), mask)):
            count = code.op(
                f"call {warp.mask_type} @llvm.ctpop.{warp.mask_type}({warp.mask_type} {lanes})"
            )
            where = code.op(f"getelementptr i64, ptr {place}, i64 {number}")
            known = code.op(f"load i64, ptr {where}")
            total = code.op(f"add i64 {known}, {warp.as_i64(count)}")
            code.do(f"store i64 {total}, ptr {where}")

    def result(self, instruction: BarrierResult) -> Value:
        """The vote of the previous barrier stage, as an LLVM value with its type and variance."""
        code, place = self._warp.scalar, self._place("1")
        held = code.op(f"load i64, ptr {place}")
        variance = uniform(self._warp.width)
        if instruction.reduction == "popc":
            return code.op(f"trunc i64 {held} to i32"), ScalarType.U32, variance
        if instruction.reduction == "or":
            return code.op(f"icmp ne i64 {held}, 0"), ScalarType.PRED, variance
        where = code.op(f"getelementptr i64, ptr {place}, i64 1")
        everybody = code.op(f"load i64, ptr {where}")
        return code.op(f"icmp eq i64 {held}, {everybody}"), ScalarType.PRED, variance

    def _place(self, later: str) -> str:
        """The two sums of this stage, or with `later` 1 of the one before."""
        code = self._warp.scalar
        field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('stage')}")
        stage = code.op(f"load i64, ptr {field}")
        near = code.op(f"add i64 {stage}, {later}")
        odd = code.op(f"and i64 {near}, 1")
        first = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('vote_held')}")
        return code.op(f"getelementptr [2 x i64], ptr {first}, i64 {odd}")
