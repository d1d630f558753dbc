"""Fast paths of loads and stores: all lanes at once, at host addresses that are known to be good.

Lanes that share an address are loaded as one; lanes close together as one window, out of which
each takes its own; all others one by one or, where there are many such loads, with gathers; stores
with scatters.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.engine.jit.codegen.memory.access_checks import AccessChecks, Lanes, Region
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["VectorAccess", "lane_type"]

# A window of this many times what the lanes want is loaded at once; beyond it, lane by lane.
_WINDOW_FACTOR = 4
# Lanes that share so few pieces of memory, with holes of at most so many bytes in them, load these.
_FEW_PIECES = 4
_HOLE_BYTES = 16
# Loads of lanes one by one take less time than gathers, and more code: so many a function has.
_MOST_LANES_ALONE = 512
# Elements that processors have gathers for have at least so many bytes.
_GATHERED_BYTES = 4
# Masked stores go out in pieces of this size, lowest first. LLVM may store the upper half first,
# which made a 3D stencil on unaligned rows one and a half times as slow.
_STORE_BYTES = 64
_LINE_BYTES = 64
_MOST_LINES = 16


def lane_type(type_: ScalarType) -> str:
    """The LLVM type of one lane's value in memory."""
    return f"i{type_.bits}"


def _pieces(offsets: tuple[int, ...], size: int) -> list[tuple[int, int]]:
    """Least and greatest offsets of lanes that lie close together."""
    places = sorted(set(offsets))
    found = [(places[0], places[0])]
    for place in places[1:]:
        low, high = found[-1]
        if place - high <= size + _HOLE_BYTES and (place - low) % size == 0:
            found[-1] = (low, place)
        else:
            found.append((place, place))
    return found


def _runs(offsets: tuple[int, ...], size: int) -> list[tuple[int, int]]:
    """[first, end) of neighbouring lanes whose places follow each other without holes."""
    starts = [i for i in range(1, len(offsets)) if offsets[i] != offsets[i - 1] + size]
    return list(zip((0, *starts), (*starts, len(offsets)), strict=True))


def _pieces_of(runs: list[tuple[int, int]], lanes: int) -> list[tuple[int, int]]:
    """Runs of the same lanes, none longer than `lanes`."""
    return [(at, min(at + lanes, end)) for start, end in runs for at in range(start, end, lanes)]


class VectorAccess:
    """Writes loads and stores of a region for lanes that have passed its check."""

    def __init__(self, warp: WarpCode, checks: AccessChecks) -> None:
        self._warp = warp
        self._checks = checks
        self._lanes_alone = 0

    def load(
        self,
        region: Region,
        lanes: Lanes,
        type_: ScalarType,
        count: int,
        mask: str,
        result: LaneVariance,
    ) -> list[str]:
        """`count` values a lane: scalars when `result` is known, else vectors."""
        lane, size, checks = lane_type(type_), type_.bytes, self._checks
        if not result.is_varying:
            first = checks.pointer(region, lanes)
            return [self._load_at(first, part * size, lane, size) for part in range(count)]
        offsets = lanes.offsets
        if offsets is not None and len(pieces := _pieces(offsets, size)) <= _FEW_PIECES:
            first = checks.pointer(region, lanes)
            return [
                self._joined(first, lanes, pieces, part * size, lane, size) for part in range(count)
            ]
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
            self._gathered(checks.pointers(region, lanes, part * size), lane, size, mask)
            for part in range(count)
        ]

    def _gathered(self, pointers: str, lane: str, size: int, mask: str) -> str:
        """One by one inline while there is room, and by calls where no gather is that narrow."""
        is_inline = self._may_go_alone()
        if is_inline or size < _GATHERED_BYTES:
            return self._one_by_one(pointers, lane, size, mask, is_inline=is_inline)
        return self._gather(pointers, lane, size, mask)

    def _may_go_alone(self) -> bool:
        """Whether the lanes of one more access follow one another inline."""
        lanes = self._lanes_alone + self._warp.width
        if lanes > _MOST_LANES_ALONE:
            return False
        self._lanes_alone = lanes
        return True

    def fetch_ahead(self, region: Region, lanes: Lanes, size: int, distance: int) -> None:
        """Asks for what lies so many bytes from what the lanes load, if that is close together."""
        if lanes.offsets is None or lanes.span > _MOST_LINES * _LINE_BYTES:
            return
        code, first = self._warp.scalar, self._checks.pointer(region, lanes)
        name = "@llvm.prefetch.p0"
        code.declarations[name] = f"declare void {name}(ptr, i32, i32, i32)"
        for line in range(0, lanes.span + size, _LINE_BYTES):
            place = code.op(f"getelementptr i8, ptr {first}, i64 {line + distance}")
            code.do(f"call void {name}(ptr {place}, i32 0, i32 3, i32 1)")

    def store(
        self, region: Region, lanes: Lanes, type_: ScalarType, values: list[str], mask: str
    ) -> None:
        """One vector of `values` for each part of a lane's value."""
        code, lane, size = self._warp.scalar, lane_type(type_), type_.bytes
        count, width = len(values), self._warp.width
        if mask == FULL and lanes.offsets == tuple(i * size * count for i in range(width)):
            first = self._checks.pointer(region, lanes)
            wide = f"<{width * count} x {lane}>"
            whole = self.interleaved(values, type_)
            code.do(f"store {wide} {whole}, ptr {first}, align {size}")
            return
        if lanes.offsets is not None and count == 1 and len(set(lanes.offsets)) == width:
            runs = _runs(lanes.offsets, size)
            if len(runs) <= _FEW_PIECES:
                first = self._checks.pointer(region, lanes)
                for run in runs if mask == FULL else _pieces_of(runs, _STORE_BYTES // size):
                    self._store_run(values[0], lane, first, lanes, run, size, mask)
                return
            if self._may_go_alone():
                self._store_apart(region, lanes, type_, values[0], mask)
                return
        for part, value in enumerate(values):
            pointers = self._checks.pointers(region, lanes, part * size)
            self._scatter(value, lane, pointers, size, mask)

    def _store_apart(
        self, region: Region, lanes: Lanes, type_: ScalarType, value: str, mask: str
    ) -> None:
        """One store for all lanes whose places follow each other, where all lanes are active."""
        warp, lane, size = self._warp, lane_type(type_), type_.bytes
        some = ""
        if mask != FULL:
            all_, some, stored = warp.labels("all", "some", "stored")
            whole = warp.scalar.op(f"icmp eq {warp.mask_type} {mask}, -1")
            warp.scalar.do(f"br i1 {whole}, label %{all_}, label %{some}")
            warp.label(all_)
        assert lanes.offsets is not None
        first = self._checks.pointer(region, lanes)
        rising = sorted(range(warp.width), key=lanes.offsets.__getitem__)
        places = tuple(lanes.offsets[i] for i in rising)
        for start, end in _pieces_of(_runs(places, size), _STORE_BYTES // size):
            self._store_lanes(
                value, lane, first, rising[start:end], places[start] - lanes.low, size
            )
        if mask != FULL:
            warp.scalar.do(f"br label %{stored}")
            warp.label(some)
            self._scatter(value, lane, self._checks.pointers(region, lanes, 0), size, mask)
            warp.scalar.do(f"br label %{stored}")
            warp.label(stored)

    def _store_lanes(
        self, value: str, lane: str, first: str, chosen: list[int], far: int, size: int
    ) -> None:
        """Stores the chosen lanes one behind the other, `far` bytes from a host address."""
        code, width, count = self._warp.scalar, self._warp.width, len(chosen)
        kind, order = f"<{width} x {lane}>", ", ".join(f"i32 {i}" for i in chosen)
        mine = code.op(f"shufflevector {kind} {value}, {kind} poison, <{count} x i32> <{order}>")
        where = code.op(f"getelementptr i8, ptr {first}, i64 {far}")
        code.do(f"store <{count} x {lane}> {mine}, ptr {where}, align {size}")

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

    def _joined(
        self,
        first: str,
        lanes: Lanes,
        pieces: list[tuple[int, int]],
        offset: int,
        lane: str,
        size: int,
    ) -> str:
        """One load for each piece of memory; every lane takes its own value."""
        code, width, offsets = self._warp.scalar, self._warp.width, lanes.offsets
        assert offsets is not None
        kind, found = f"<{width} x {lane}>", ""
        for low, high in pieces:
            inside = [low <= o <= high for o in offsets]
            window = f"<{(high - low) // size + 1} x {lane}>"
            value = self._load_at(first, low - lanes.low + offset, window, size)
            indices = [(o - low) // size if i else 0 for o, i in zip(offsets, inside, strict=True)]
            value = self.picked(value, window, indices)
            chosen = ", ".join(f"i32 {n if i else n + width}" for n, i in enumerate(inside))
            found = found and code.op(
                f"shufflevector {kind} {value}, {kind} {found}, <{width} x i32> <{chosen}>"
            )
            found = found or value
        return found

    def _load_at(self, first: str, offset: int, kind: str, size: int) -> str:
        where, code = first, self._warp.scalar
        if offset:
            where = code.op(f"getelementptr i8, ptr {first}, i64 {offset}")
        return code.op(f"load {kind}, ptr {where}, align {size}")

    def _one_by_one(
        self, pointers: str, lane: str, size: int, mask: str, *, is_inline: bool
    ) -> str:
        """What a gather loads; lanes that are not active read what the function keeps there."""
        code, width = self._warp.scalar, self._warp.width
        kind, places = f"<{width} x {lane}>", f"<{width} x ptr>"
        if mask != FULL:
            own = self._warp.broadcast("%places", "ptr")
            lanes = self._warp.mask_vector(mask)
            pointers = code.op(
                f"select <{width} x i1> {lanes}, {places} {pointers}, {places} {own}"
            )
        attribute = "alwaysinline" if is_inline else "noinline"
        name = f"@{'fetch' if is_inline else 'call_fetch'}_{width}_{lane}_{size}"
        code.declarations[name] = _fetch(name, width, lane, size, attribute)
        return code.op(f"call {kind} {name}({places} {pointers})")

    def _gather(self, pointers: str, lane: str, size: int, mask: str) -> str:
        code, width = self._warp.scalar, self._warp.width
        kind, places, masks = f"<{width} x {lane}>", f"<{width} x ptr>", f"<{width} x i1>"
        name = f"@llvm.masked.gather.v{width}{lane}.v{width}p0"
        code.declarations[name] = f"declare {kind} {name}({places}, {masks}, {kind})"
        return code.op(
            f"call {kind} {name}({places} align {size} {pointers}, "
            f"{masks} {self._warp.mask_vector(mask)}, {kind} zeroinitializer)"
        )

    def _store_run(
        self,
        value: str,
        lane: str,
        first: str,
        lanes: Lanes,
        run: tuple[int, int],
        size: int,
        mask: str,
    ) -> None:
        """Stores lanes [start, end) of the run, whose places follow each other."""
        code, width, (start, end) = self._warp.scalar, self._warp.width, run
        assert lanes.offsets is not None
        kind, part = f"<{width} x {lane}>", f"<{end - start} x {lane}>"
        order = f"<{end - start} x i32> <{', '.join(f'i32 {i}' for i in range(start, end))}>"
        mine = code.op(f"shufflevector {kind} {value}, {kind} poison, {order}")
        far = lanes.offsets[start] - lanes.low
        where = code.op(f"getelementptr i8, ptr {first}, i64 {far}")
        if mask == FULL:
            code.do(f"store {part} {mine}, ptr {where}, align {size}")
            return
        masks, all_masks = f"<{end - start} x i1>", f"<{width} x i1>"
        active = code.op(
            f"shufflevector {all_masks} {self._warp.mask_vector(mask)}, {all_masks} poison, {order}"
        )
        name = f"@llvm.masked.store.v{end - start}{lane}.p0"
        code.declarations[name] = f"declare void {name}({part}, ptr, {masks})"
        code.do(f"call void {name}({part} {mine}, ptr align {size} {where}, {masks} {active})")

    def _scatter(self, value: str, lane: str, pointers: str, size: int, mask: str) -> None:
        code, width = self._warp.scalar, self._warp.width
        kind, places, masks = f"<{width} x {lane}>", f"<{width} x ptr>", f"<{width} x i1>"
        name = f"@llvm.masked.scatter.v{width}{lane}.v{width}p0"
        code.declarations[name] = f"declare void {name}({kind}, {places}, {masks})"
        code.do(
            f"call void {name}({kind} {value}, {places} align {size} {pointers}, "
            f"{masks} {self._warp.mask_vector(mask)})"
        )


def _fetch(name: str, width: int, lane: str, size: int, attribute: str) -> str:
    """A function that loads the lanes of a vector one by one."""
    places, kind = f"<{width} x ptr>", f"<{width} x {lane}>"
    lines, found = [], "poison"
    for number in range(width):
        lines += [
            f"  %at.{number} = extractelement {places} %places, i32 {number}",
            f"  %one.{number} = load {lane}, ptr %at.{number}, align {size}",
            f"  %all.{number} = insertelement {kind} {found}, {lane} %one.{number}, i32 {number}",
        ]
        found = f"%all.{number}"
    body = "\n".join(lines)
    head = f"define internal {kind} {name}({places} %places) {attribute}"
    return f"{head} {{\n{body}\n  ret {kind} {found}\n}}"
