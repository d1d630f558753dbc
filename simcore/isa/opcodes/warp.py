"""The table of operations across the lanes of a warp: shuffles, votes, matches, reductions.

An entry is to these what `opcodes.Opcode` is to lane-wise instructions: its NumPy meaning, its LLVM
twin and its operands. PTX defines them for groups of 32 lanes; a warp of 64 is two groups. Every
lane sees the lanes that take part with it: those that execute the instruction at the same time and
that its member mask names. PTX leaves undefined what a lane gets from one that does not take part:
here it gets its own value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.float_order import FloatOrder
from kernelcast.simcore.isa.opcodes.columns import Detour
from kernelcast.simcore.isa.opcodes.llvm import warp as llvm
from kernelcast.simcore.isa.opcodes.llvm.warp import GROUP, WarpEmission, shuffle_source
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["GROUP", "WARP_OPCODES", "WarpOpcode", "lane_words"]

Array = npt.NDArray[Any]
WarpMeaning = Callable[..., tuple[Array, ...]]
"""(type, participants, *operands) -> results, arrays of shape (groups, GROUP).

`participants` are uint32: for each lane the lanes that take part with it, itself among them if it
is active; what inactive lanes get does not matter.
"""
_LANES = np.arange(GROUP, dtype=np.int64)
_BITS = (np.uint64(1) << _LANES.astype(np.uint64)).astype(np.uint32)
_U32, _B32, _PRED = ScalarType.U32, ScalarType.B32, ScalarType.PRED
_WORDS = frozenset((ScalarType.B32, ScalarType.B64))


@dataclass(frozen=True, slots=True)
class WarpOpcode:
    """One entry. In `results` and `sources` None stands for the instruction type.

    `is_common`: lanes that take part with the same others get the same results. `is_whole`: it is
    one of OpenCL's sub-groups, a warp of any width, with rows of as many lanes and participants of
    64 bits.
    """

    name: str
    results: tuple[ScalarType | None, ...]
    sources: tuple[ScalarType | None, ...]
    types: frozenset[ScalarType]
    unit: Unit
    is_common: bool
    compute: WarpMeaning
    emit: WarpEmission
    is_whole: bool = False
    flops: int = 0
    """Floating-point operations per lane."""
    warps: int = 1
    """How many warps, side by side and whole, execute it together."""
    detour: Detour = Detour.NONE

    def result_types(self, type_: ScalarType) -> tuple[ScalarType, ...]:
        """The types of the results for an instruction type."""
        return tuple(own or type_ for own in self.results)

    def source_types(self, type_: ScalarType) -> tuple[ScalarType, ...]:
        """The types of the sources for an instruction type."""
        return tuple(own or type_ for own in self.sources)


_WHOLE = frozenset(("lane.read", "lane.ballot"))
_TABLE: dict[str, WarpOpcode] = {}
WARP_OPCODES: Mapping[str, WarpOpcode] = MappingProxyType(_TABLE)
"""Every operation by name, for instance `shfl.up`, `vote.ballot`, `redux.add`."""


def lane_words(flags: Array) -> Array:
    """Flags of shape (groups, GROUP) as one mask a group, uint32 of shape (groups, 1)."""
    words: Array = np.where(flags, _BITS, np.uint32(0)).sum(axis=1, dtype=np.uint32)
    return words[:, None]


def _enter(
    name: str,
    results: tuple[ScalarType | None, ...],
    sources: tuple[ScalarType | None, ...],
    types: frozenset[ScalarType],
    compute: WarpMeaning,
    emit: WarpEmission,
    *,
    unit: Unit = Unit.INTEGER,
    is_common: bool = True,
) -> None:
    is_whole = name in _WHOLE
    _TABLE[name] = WarpOpcode(
        name, results, sources, types, unit, is_common, compute, emit, is_whole
    )


def _shuffle(mode: str) -> WarpMeaning:
    def compute(
        _type: ScalarType, participants: Array, a: Array, b: Array, c: Array
    ) -> tuple[Array, ...]:
        source, inside = shuffle_source(mode, _LANES, b.astype(np.int64), c.astype(np.int64))
        gives = (participants >> source.astype(np.uint32)) & np.uint32(1)
        return np.where(gives, np.take_along_axis(a, source, axis=1), a), inside

    return compute


def _vote_all(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    return ((~lane_words(a) & participants) == 0,)


def _vote_any(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    return ((lane_words(a) & participants) != 0,)


def _vote_uniform(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    held = lane_words(a) & participants
    return ((held == 0) | (held == participants),)


def _ballot(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    return (lane_words(a) & participants,)


def _equals(participants: Array, a: Array) -> Array:
    """The lanes, one bit each, that take part and hold the value of each lane."""
    same = a[:, :, None] == a[:, None, :]
    return np.asarray(np.where(same, _BITS, np.uint32(0)).sum(axis=2, dtype=np.uint32)) & (
        participants
    )


def _match_any(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    return (_equals(participants, a),)


def _match_all(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    agree = _equals(participants, a) == participants
    return np.where(agree, participants, np.uint32(0)), agree


def _reduction(function: Any, identity: Callable[[ScalarType], int]) -> WarpMeaning:
    def compute(type_: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
        taken = (participants[:, :, None] >> np.arange(GROUP, dtype=np.uint32)) & np.uint32(1)
        nothing = np.array(identity(type_), np.int64).astype(type_.dtype)
        values = np.where(taken != 0, a[:, None, :], nothing)
        return (function.reduce(values, axis=2, dtype=type_.dtype),)

    return compute


def _of_floats(order: FloatOrder, of_integers: WarpMeaning) -> WarpMeaning:
    """Takes f32 too, by words of the same order."""

    def compute(type_: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
        if not type_.is_float:
            return of_integers(type_, participants, a)
        return (order.numbers(of_integers(_U32, participants, order.keys(a))[0]),)

    return compute


def _active(_type: ScalarType, participants: Array) -> tuple[Array, ...]:
    return (participants,)


def _elect(_type: ScalarType, participants: Array) -> tuple[Array, ...]:
    lowest = participants & (~participants + np.uint32(1))
    leader = np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32)
    return leader, leader == _LANES


def _read_lane(_type: ScalarType, participants: Array, a: Array, lane: Array) -> tuple[Array, ...]:
    source = lane.astype(np.int64) & (a.shape[1] - 1)
    gives = (participants >> source.astype(np.uint64)) & np.uint64(1)
    return (np.where(gives, np.take_along_axis(a, source, axis=1), a),)


def _whole_ballot(_type: ScalarType, participants: Array, a: Array) -> tuple[Array, ...]:
    bits = np.uint64(1) << np.arange(a.shape[1], dtype=np.uint64)
    held = np.where(a, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)[:, None] & participants
    return held.astype(np.uint32), (held >> np.uint64(32)).astype(np.uint32)


def _nothing(_type: ScalarType, _participants: Array) -> tuple[Array, ...]:
    return ()


for _mode in ("up", "down", "bfly", "idx"):
    _enter(
        f"shfl.{_mode}",
        (None, _PRED),
        (None, _U32, _U32),
        frozenset((_B32,)),
        _shuffle(_mode),
        llvm.shuffle_emission(_mode),
        unit=Unit.LOAD_STORE,
        is_common=False,
    )
    _TABLE[f"shfl.{_mode}"] = replace(_TABLE[f"shfl.{_mode}"], detour=Detour.EXCHANGE)
_PREDICATE = frozenset((_PRED,))
_enter("vote.all", (_PRED,), (_PRED,), _PREDICATE, _vote_all, llvm.emit_vote_all)
_enter("vote.any", (_PRED,), (_PRED,), _PREDICATE, _vote_any, llvm.emit_vote_any)
_enter("vote.uni", (_PRED,), (_PRED,), _PREDICATE, _vote_uniform, llvm.emit_vote_uniform)
_enter("vote.ballot", (_B32,), (_PRED,), frozenset((_B32,)), _ballot, llvm.emit_ballot)
_enter("match.any", (_B32,), (None,), _WORDS, _match_any, llvm.emit_match_any, is_common=False)
_enter("match.all", (_B32, _PRED), (None,), _WORDS, _match_all, llvm.emit_match_all)
_REDUCED = {
    "add": (np.add, lambda _: 0),
    "min": (np.minimum, lambda t: (1 << 31) - 1 if t.is_signed else (1 << 32) - 1),
    "max": (np.maximum, lambda t: -(1 << 31) if t.is_signed else 0),
    "and": (np.bitwise_and, lambda _: (1 << 32) - 1),
    "or": (np.bitwise_or, lambda _: 0),
    "xor": (np.bitwise_xor, lambda _: 0),
}
for _name in ("add", "and", "or", "xor"):
    _enter(
        f"redux.{_name}",
        (None,),
        (None,),
        frozenset((_U32, ScalarType.S32) if _name == "add" else (_B32,)),
        _reduction(*_REDUCED[_name]),
        llvm.reduction_emission(_name, _REDUCED[_name][1]),
    )


def _enter_extremum(name: str, modifiers: tuple[str, ...]) -> None:
    """`.abs` and `.NaN` are for f32 only."""
    emission = llvm.reduction_emission(name, _REDUCED[name][1])
    order = FloatOrder(name == "min", "abs" in modifiers, "NaN" in modifiers)
    _enter(
        ".".join(("redux", name, *modifiers)),
        (None,),
        (None,),
        frozenset((ScalarType.F32,) if modifiers else (_U32, ScalarType.S32, ScalarType.F32)),
        _of_floats(order, _reduction(*_REDUCED[name])),
        llvm.float_reduction_emission(order, emission),
    )


for _name in ("min", "max"):
    for _modifiers in ((), ("abs",), ("NaN",), ("abs", "NaN")):
        _enter_extremum(_name, _modifiers)
_enter("activemask", (_B32,), (), frozenset((_B32,)), _active, llvm.emit_active)
_enter("elect", (_B32, _PRED), (), frozenset((_B32,)), _elect, llvm.emit_elect, is_common=False)
_enter("bar.warp", (), (), frozenset((_B32,)), _nothing, llvm.emit_nothing, unit=Unit.BARRIER)
_enter(
    "lane.read",
    (None,),
    (None, _U32),
    _WORDS,
    _read_lane,
    llvm.emit_read_lane,
    unit=Unit.LOAD_STORE,
    is_common=False,
)
_enter(
    "lane.ballot",
    (_B32, _B32),
    (_PRED,),
    frozenset((_B32,)),
    _whole_ballot,
    llvm.emit_whole_ballot,
)
