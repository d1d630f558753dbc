"""What a row of the follower means in words: kinds, sides, places and objects."""

from __future__ import annotations

from kernelcast.simcore.checking.findings import Finding, Kind, Raw, Side
from kernelcast.simcore.checking.plan import Plan
from kernelcast.simcore.checking.records import (
    BORN,
    BOUNDS,
    COPY,
    MASK,
    PROXY,
    RACE,
    SAME,
    SOURCE,
    UNINITIALISED,
    UNWRITTEN,
    WRAPPED,
)
from kernelcast.simcore.checking.rewriting import Probed
from kernelcast.simcore.checking.rules import order_of
from kernelcast.simcore.checking.value_text import value_text
from kernelcast.simcore.checking.values import Seen, Values
from kernelcast.simcore.isa.ir.kernel import Atomic, Branch, BulkCopy, Instruction, Load, Store
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["Wording"]

_KINDS = {
    RACE: Kind.RACE,
    SAME: Kind.SAME_VALUE,
    UNINITIALISED: Kind.UNINITIALISED,
    BOUNDS: Kind.BOUNDS,
    COPY: Kind.ASYNC,
    SOURCE: Kind.ASYNC,
    PROXY: Kind.ASYNC,
    MASK: Kind.WARP_MASK,
    UNWRITTEN: Kind.UNINITIALISED,
    BORN: Kind.NOT_FINITE,
    WRAPPED: Kind.OVERFLOW,
}
_SPACES = {0: "global", 1: "shared", 2: "local"}
_SIZES = tuple[int, int, int]


class Wording:
    """Tells findings of one launch."""

    def __init__(
        self,
        probed: Probed,
        launch: Launch,
        memory: LaunchMemory,
        plan: Plan,
        values: Values | None = None,
    ) -> None:
        self._kernel = probed.kernel
        self._instructions = {i.pc: i for i in probed.kernel.instructions}
        self._instructions |= {pc: probe.about for pc, probe in probed.probes.items()}
        self._launch = launch
        self._memory = memory
        self._plan = plan
        self._values = values

    def finding(self, raw: Raw, count: int) -> Finding:
        """The finding of a row, which stands for `count`."""
        kind, space = _KINDS[raw.kind], _SPACES.get(raw.space, "")
        seen_first, seen = (None, None) if self._values is None else self._values.of(raw)
        second = self._side(raw.pc, raw.thread, seen)
        first = None
        if raw.prior_thread:
            first = self._side(raw.prior_pc, raw.prior_thread, seen_first)
        return Finding(
            kind,
            self._message(kind, raw, space, first, second),
            space,
            second,
            first,
            raw.address if space else None,
            self._object(raw, space),
            count,
        )

    def _message(self, kind: Kind, raw: Raw, space: str, first: Side | None, second: Side) -> str:
        where = f"{space} memory"
        if raw.kind == UNWRITTEN:
            return f"{second.what} uses a register that nobody has written"
        is_over = isinstance(self._instructions.get(raw.prior_pc), BulkCopy)
        is_read = isinstance(self._instructions[raw.pc], Load)
        if raw.kind == PROXY:
            return f"asynchronous copy of {space} memory that was written without a proxy fence"
        if raw.kind == SOURCE or (raw.kind == COPY and is_over and not is_read):
            return f"{second.what} of what an asynchronous copy may still read or write"
        match kind:
            case Kind.RACE | Kind.SAME_VALUE:
                assert first is not None
                how = self._relation(raw)
                same = "; both write the same value" if kind is Kind.SAME_VALUE else ""
                return f"race in {where}: {first.what}, then {second.what} by {how}{same}"
            case Kind.UNINITIALISED:
                return f"{second.what} of {where} that nobody has written"
            case Kind.BOUNDS:
                return f"{second.what} outside of the array in {where} that it belongs to"
            case Kind.NOT_FINITE:
                return "NaN or infinity, computed of finite numbers"
            case Kind.OVERFLOW:
                return "an index of 32 bits wraps around and becomes part of an address"
            case Kind.ASYNC:
                return f"{second.what} of what an asynchronous copy brings, without a wait for it"
            case _:
                return "lanes come to a barrier of the warp whose mask does not name them"

    def _relation(self, raw: Raw) -> str:
        geometry = self._plan.geometry
        mine, theirs = raw.thread - 1, raw.prior_thread - 1
        size = geometry.warps * geometry.width
        if mine // size != theirs // size:
            return "another thread block"
        if mine // geometry.width != theirs // geometry.width:
            return "another warp"
        return "another thread of the warp"

    def _side(self, pc: int, number: int, seen: Seen | None) -> Side:
        instruction = self._instructions[pc]
        geometry = self._plan.geometry
        block, thread = divmod(number - 1, geometry.warps * geometry.width)
        is_copy = isinstance(instruction, BulkCopy)
        return Side(
            _what(instruction),
            instruction.mnemonic,
            _position(block, self._launch.grid),
            None if is_copy else _position(thread, self._launch.thread_block),
            instruction.span,
            instruction.origin,
            value_text(instruction, seen.words) if seen is not None else "",
        )

    def _object(self, raw: Raw, space: str) -> str:
        if space == "global":
            found = self._memory.globals.find(raw.address)
            if found is not None:
                return _byte_of(found.name, raw.address - found.address)
        if space in ("shared", "local"):
            for name, symbol in self._kernel.symbols.items():
                first = self._memory.symbols.get(name, -1)
                inside = first <= raw.address < first + symbol.size
                if symbol.space is AddressSpace(space) and inside:
                    return _byte_of(name, raw.address - first)
        return ""


def _byte_of(symbol: str, offset: int) -> str:
    """A place in a variable, by the name that its function gives it."""
    return f"{source_name(symbol).rpartition('::')[2]}, byte {offset:,}"


def _what(instruction: Instruction) -> str:
    strong = order_of(instruction).is_strong
    if isinstance(instruction, Atomic):
        return "atomic"
    if not isinstance(instruction, Load | Store):
        if isinstance(instruction, BulkCopy):
            return "asynchronous copy"
        return "branch" if isinstance(instruction, Branch) else "computation"
    name = "read" if isinstance(instruction, Load) else "write"
    return f"volatile {name}" if strong else name


def _position(number: int, sizes: _SIZES) -> _SIZES:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
