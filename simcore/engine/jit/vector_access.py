"""Fast paths of loads and stores: all lanes at once, at host addresses that are known to be good.

Lanes that share an address are loaded as one; lanes close together as one window, out of which
each takes its own; all others with gathers and scatters.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.access_checks import AccessChecks, Lanes, Region
from kernelcast.simcore.engine.jit.shapes import Shape
from kernelcast.simcore.engine.jit.warp_code import FULL, WarpCode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["VectorAccess", "lane_type"]

# A window of this many times what the lanes want is loaded at once; beyond it, lane by lane.
_WINDOW_FACTOR = 4


def lane_type(type_: ScalarType) -> str:
    """The LLVM type of one lane's value in memory."""
    return f"i{type_.bits}"


class VectorAccess:
    """Writes loads and stores of a region for lanes that have passed its check."""

    def __init__(self, warp: WarpCode, checks: AccessChecks) -> None:
        self._warp = warp
        self._checks = checks

    def load(
        self,
        region: Region,
        lanes: Lanes,
        type_: ScalarType,
        count: int,
        mask: str,
        result: Shape,
    ) -> list[str]:
        """`count` values a lane: scalars when `result` is known, else vectors."""
        lane, size, checks = lane_type(type_), type_.bytes, self._checks
        if not result.is_varying:
            first = checks.pointer(region, lanes)
            return [self._load_at(first, part * size, lane, size) for part in range(count)]
        offsets = lanes.offsets
        if offsets is not None:
            elements = (lanes.span // size) + count
            if elements <= _WINDOW_FACTOR * self._warp.width * count:
                window = f"<{elements} x {lane}>"
                value = self._load_at(checks.pointer(region, lanes), 0, window, size)
                return [
                    self.picked(value, window, [(o - lanes.low) // size + part for o in offsets])
                    for part in range(count)
                ]
        return [
            self._gather(checks.pointers(region, lanes, part * size), lane, size, mask)
            for part in range(count)
        ]

    def store(
        self, region: Region, lanes: Lanes, type_: ScalarType, values: list[str], mask: str
    ) -> None:
        """One vector of `values` for each part of a lane's value."""
        code, lane, size = self._warp.scalar, lane_type(type_), type_.bytes
        count, width = len(values), self._warp.width
        if lanes.offsets == tuple(i * size * count for i in range(width)):
            first = self._checks.pointer(region, lanes)
            if mask == FULL:
                wide = f"<{width * count} x {lane}>"
                whole = self.interleaved(values, type_)
                code.do(f"store {wide} {whole}, ptr {first}, align {size}")
                return
            if count == 1:
                self._masked_store(values[0], lane, first, size, mask)
                return
        for part, value in enumerate(values):
            pointers = self._checks.pointers(region, lanes, part * size)
            self._scatter(value, lane, pointers, size, mask)

    def interleaved(self, values: list[str], type_: ScalarType) -> str:
        """All parts of lane 0, then of lane 1, ..."""
        lane, width, code = lane_type(type_), self._warp.width, self._warp.scalar
        if len(values) == 1:
            return values[0]
        joined, size = list(values), width
        while len(joined) > 1:
            order = ", ".join(f"i32 {i}" for i in range(2 * size))
            joined = [
                code.op(
                    f"shufflevector <{size} x {lane}> {joined[i]}, <{size} x {lane}> "
                    f"{joined[i + 1]}, <{2 * size} x i32> <{order}>"
                )
                for i in range(0, len(joined), 2)
            ]
            size *= 2
        order = ", ".join(
            f"i32 {part * width + i}" for i in range(width) for part in range(len(values))
        )
        kind = f"<{size} x {lane}>"
        return code.op(f"shufflevector {kind} {joined[0]}, {kind} poison, <{size} x i32> <{order}>")

    def picked(self, value: str, kind: str, indices: list[int]) -> str:
        """The elements of a vector of type `kind` that the lanes take."""
        elements = int(kind[1:].split(" ")[0])
        if indices == list(range(elements)):
            return value
        chosen = ", ".join(f"i32 {i}" for i in indices)
        return self._warp.scalar.op(
            f"shufflevector {kind} {value}, {kind} poison, <{self._warp.width} x i32> <{chosen}>"
        )

    def _load_at(self, first: str, offset: int, kind: str, size: int) -> str:
        where, code = first, self._warp.scalar
        if offset:
            where = code.op(f"getelementptr i8, ptr {first}, i64 {offset}")
        return code.op(f"load {kind}, ptr {where}, align {size}")

    def _gather(self, pointers: str, lane: str, size: int, mask: str) -> str:
        code, width = self._warp.scalar, self._warp.width
        kind, places, masks = f"<{width} x {lane}>", f"<{width} x ptr>", f"<{width} x i1>"
        name = f"@llvm.masked.gather.v{width}{lane}.v{width}p0"
        code.declarations[name] = f"declare {kind} {name}({places}, {masks}, {kind})"
        return code.op(
            f"call {kind} {name}({places} align {size} {pointers}, "
            f"{masks} {self._warp.mask_vector(mask)}, {kind} zeroinitializer)"
        )

    def _masked_store(self, value: str, lane: str, first: str, size: int, mask: str) -> None:
        code, width = self._warp.scalar, self._warp.width
        kind, masks = f"<{width} x {lane}>", f"<{width} x i1>"
        name = f"@llvm.masked.store.v{width}{lane}.p0"
        code.declarations[name] = f"declare void {name}({kind}, ptr, {masks})"
        code.do(
            f"call void {name}({kind} {value}, ptr align {size} {first}, "
            f"{masks} {self._warp.mask_vector(mask)})"
        )

    def _scatter(self, value: str, lane: str, pointers: str, size: int, mask: str) -> None:
        code, width = self._warp.scalar, self._warp.width
        kind, places, masks = f"<{width} x {lane}>", f"<{width} x ptr>", f"<{width} x i1>"
        name = f"@llvm.masked.scatter.v{width}{lane}.v{width}p0"
        code.declarations[name] = f"declare void {name}({kind}, {places}, {masks})"
        code.do(
            f"call void {name}({kind} {value}, {places} align {size} {pointers}, "
            f"{masks} {self._warp.mask_vector(mask)})"
        )
