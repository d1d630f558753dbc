"""Whether neighbouring warps take the same branches, as LLVM IR.

A warp keeps a digest of its ways, %digest, which is compared when the thread block ends. Two warps
that are executed as one took the same ways so long as both had lanes on the same ways at each
branch; %ways.differ says where they had not.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.warp_context import WarpContext
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset

__all__ = ["BranchDigest"]

_TAKEN, _NOT_TAKEN = 1, 2
_DIGEST_FACTOR = 0x5851F42D4C957F2D  # odd: Knuth's multiplier of MMIX


class BranchDigest:
    """`watched`: basic blocks whose branches count."""

    def __init__(self, warp: WarpCode, context: WarpContext, watched: frozenset[int]) -> None:
        self._warp = warp
        self._context = context
        self._watched = watched

    def write_entry(self) -> None:
        """What is known when the function begins."""
        if not self._watched:
            return
        entry = self._warp.entry
        if self._warp.together > 1:
            entry.do("%ways.differ = alloca i1")
            entry.do("store i1 false, ptr %ways.differ")
            return
        where = entry.op(f"getelementptr i8, ptr %context, i64 {self._context.digest_offset}")
        entry.do("%digest = alloca i64")
        entry.do(f"store i64 {entry.op(f'load i64, ptr {where}')}, ptr %digest")

    def go(self, block: int, there: str, rest: str) -> None:
        """Lanes go on at a branch: those of the mask `there` on its way, those of `rest` not.

        A mask may be "0".
        """
        if block not in self._watched:
            return
        if self._warp.together > 1:
            self._compare(there, rest)
            return
        ways = (there != "0") * _TAKEN | (rest != "0") * _NOT_TAKEN
        code = self._warp.scalar
        known = code.op("load i64, ptr %digest")
        mixed = code.op(f"mul i64 {known}, {_DIGEST_FACTOR}")
        noted = code.op(f"add i64 {mixed}, {block << 2 | ways}")
        code.do(f"store i64 {noted}, ptr %digest")

    def _compare(self, there: str, rest: str) -> None:
        """Notes where only one of the warps goes a way."""
        code = self._warp.scalar
        differs = code.op("load i1, ptr %ways.differ")
        for mask in (there, rest):
            if mask not in ("0", FULL):
                first, *others = self._warp.warps_in(mask)
                for other in others:
                    differs = code.op(f"or i1 {differs}, {code.op(f'xor i1 {first}, {other}')}")
        code.do(f"store i1 {differs}, ptr %ways.differ")

    def write_end(self) -> None:
        """Keeps what was found."""
        if not self._watched:
            return
        code = self._warp.scalar
        if self._warp.together == 1:
            digest = code.op("load i64, ptr %digest")
            code.do(f"store i64 {digest}, ptr {self._context.digest_place()}")
            return
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('pairs_differ')}")
        differs = code.op("zext i1 " + code.op("load i1, ptr %ways.differ") + " to i64")
        known = code.op(f"load i64, ptr {where}")
        code.do(f"store i64 {code.op(f'or i64 {known}, {differs}')}, ptr {where}")
