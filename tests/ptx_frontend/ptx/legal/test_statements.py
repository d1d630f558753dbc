"""Atomics, fences, hints, surfaces, mbarriers and warps: by hand, and the vendor's assembler."""

from __future__ import annotations

import itertools
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.errors import PtxSyntaxError, UnsupportedInstruction
from kernelcast.ptx_frontend import read_ptx

assembler: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "assembler.py")))

LETTERS = {
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), "h"),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), "r"),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), "d"),
}
SCOPES = ("", "cta", "cluster", "gpu", "sys")
SPACES = ("", "global", "shared", "shared::cta", "shared::cluster")
OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")
Grid = Callable[[], Iterator[str]]


def refused(statement: str) -> Exception:
    kernel = f""".version 9.0\n.target sm_100a\n.address_size 64\n.entry k()
{{ .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; {statement} ret; }}"""
    (refusals,) = read_ptx(kernel, "k.ptx").rejected.values()
    return refusals[0]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("fence.sc;", "it needs a scope, .cta or .cluster or .gpu or .sys"),
        ("membar;", "it needs a scope, .cta or .sys"),
        ("membar.gpu;", "its modifiers do not fit together"),
        ("fence.relaxed.gpu;", "modifier '.relaxed'"),
        ("nanosleep.u64 %r0;", "modifier '.u64'"),
        ("prefetch.L3 [%d0];", "modifier '.L3'"),
        ("atom.volatile.global.add.u32 %r0, [%d0], %r1;", "modifier '.volatile'"),
        ("atom.global.and.u32 %r0, [%d0], %r1;", "no atomic and of type .u32"),
        ("atom.local.add.u32 %r0, [%d0], %r1;", "it is not for .local memory"),
        ("atom.add.f16x2 %r0, [%d0], %r1;", "type .f16x2 needs .noftz"),
        ("atom.add.noftz.f32 %r0, [%d0], %r1;", "type .f32 has no .noftz"),
        ("atom.global.add.v4.f16x2 {%r0,%r1,%r2,%r3}, [%d0], {%r4,%r5,%r6,%r7};", "needs .noftz"),
        ("red.acquire.gpu.add.u32 [%d0], %r1;", "modifier '.acquire'"),
        ("red.global.exch.b32 [%d0], %r1;", "no atomic exch of type .b32"),
        ("red.global.add.v8.f32 [%d0], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};", "vectors of 8"),
        ("multimem.ld_reduce.relaxed.global.add.u32 %r0, [%d0];", "'.relaxed' needs a scope"),
        ("multimem.red.relaxed.gpu.global.min.f16x2 [%d0], %r0;", "no atomic min of type .f16x2"),
        ("multimem.st.relaxed.gpu.shared.u32 [%d0], %r0;", "it is for global memory, not .shared"),
        ("suld.b.2d.b32 %r0, [%d0, {%r1, %r2}];", "it needs .trap, .clamp or .zero"),
        ("sured.p.add.2d.u32.trap [%d0, {%r1, %r2}], %r0;", "type .u32"),
        ("sured.b.add.a2d.u32.trap [%d0, {%r1, %r2, %r3, %r4}], %r0;", "geometry .a2d"),
        ("match.any.b32 %r0, %r1;", "it needs .sync"),
        ("elect.sync.b32 %r0|%p0, -1;", "it takes no type"),
        ("mbarrier.arrive.release.b64 %d0, [%d1];", "it takes .release or .relaxed with a scope"),
        ("mbarrier.inval.relaxed.cta.b64 [%d1];", "it has no order"),
        ("mbarrier.init.shared::cluster.b64 [%r1], 1;", "modifier '.shared::cluster'"),
    ],
)
def test_what_ptx_lacks(statement: str, reason: str) -> None:
    error = refused(statement)
    assert isinstance(error, UnsupportedInstruction)
    assert reason in error.message


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("discard.global.L2 [%d0], 64;", "is for 128 bytes"),
        ("setmaxnreg.inc.sync.aligned.u32 20;", "takes a multiple of 8 from 24 to 256"),
        ("mbarrier.arrive.shared::cluster.b64 %d0, [%r1];", "gives no state"),
        ("mbarrier.arrive.expect_tx.b64 %d0, [%d1];", "takes 3 operands, got 2"),
    ],
)
def test_operands_that_ptx_lacks(statement: str, reason: str) -> None:
    with pytest.raises(PtxSyntaxError, match=reason):
        refused(statement)


def _joined(*modifiers: str) -> str:
    return ".".join(modifier for modifier in modifiers if modifier)


def _values(type_: str, count: int, first: int = 0) -> str:
    names = [f"%{LETTERS[type_]}{first + n}" for n in range(max(1, count))]
    return f"{{{', '.join(names)}}}" if count else names[0]


def _atomic(type_: str, *modifiers: str) -> Iterator[str]:
    """`atom` and `red` with their operands."""
    values = ", ".join(_values(type_, 0, n) for n in range(1, 3 if "cas" in modifiers else 2))
    name = _joined(*modifiers, type_)
    yield f"atom.{name} {_values(type_, 0)}, [%d8], {values};"
    yield f"red.{name} [%d8], {values};"


def atomics() -> Iterator[str]:
    for operation, flush, type_ in itertools.product(OPERATIONS, ("", "noftz"), LETTERS):
        yield from _atomic(type_, "global", operation, flush)
    orders = ("", "relaxed", "acquire", "release", "acq_rel", "volatile", "weak", "sc", "mmio")
    for order, scope, space in itertools.product(orders, SCOPES, (*SPACES, "local", "const")):
        yield from _atomic("u32", order, scope, space, "add")
    for hint in ("ca", "cg", "unified", "L1::evict_last", "L2::64B", "L2::evict_last"):
        yield from _atomic("u32", "global", hint, "add")


def vectors() -> Iterator[str]:
    for operation, flush, count, type_, space in itertools.product(
        OPERATIONS[:4], ("", "noftz"), (2, 4, 8), LETTERS, SPACES[:3]
    ):
        name = _joined(space, operation, flush, f"v{count}", type_)
        yield f"red.{name} [%d8], {_values(type_, count)};"


def multimems() -> Iterator[str]:
    for operation, type_, count in itertools.product(OPERATIONS, LETTERS, (0, 2, 4, 8)):
        name = _joined("relaxed.gpu.global", operation, f"v{count}" if count else "", type_)
        yield f"multimem.ld_reduce.{name} {_values(type_, count)}, [%d8];"
        yield f"multimem.red.{name} [%d8], {_values(type_, count)};"
        yield f"multimem.st.{name.replace(f'.{operation}', '')} [%d8], {_values(type_, count)};"
    orders = ("", "relaxed", "weak", "acquire", "release", "acq_rel", "volatile")
    for order, scope, space in itertools.product(orders, SCOPES, SPACES[:3]):
        name = _joined(order, scope, space)
        yield f"{_joined('multimem.ld_reduce', name, 'add.u32')} %r0, [%d8];"
        yield f"{_joined('multimem.red', name, 'add.u32')} [%d8], %r0;"
        yield f"{_joined('multimem.st', name, 'u32')} [%d8], %r0;"


def fences() -> Iterator[str]:
    orders = ("", "sc", "acq_rel", "acquire", "release", "relaxed", "weak", "volatile")
    for root, order, scope in itertools.product(("fence", "membar"), orders, (*SCOPES, "gl")):
        yield f"{_joined(root, order, scope)};"
    proxies = ("alias", "async", "async.global", "async.shared", "async.shared::cta", "generic")
    for root, proxy in itertools.product(("fence", "membar"), (*proxies, "tensormap")):
        yield f"{root}.proxy.{proxy};"
    kinds = ("fence", "fence.proxy.async::generic")
    limits = ("", "op_restrict", "sync_restrict::shared::cta", "sync_restrict::shared::cluster")
    for kind, order, limit, scope in itertools.product(kinds, orders[:5], limits, SCOPES):
        yield f"{_joined(kind, order, limit, scope)};"
    for order, scope in itertools.product(orders[:5], SCOPES):
        yield f"{_joined('fence.mbarrier_init', order, scope)};"
    for order, scope, size in itertools.product(orders[:5], SCOPES, ("", " [%d0], 128")):
        yield f"{_joined('fence.proxy.tensormap::generic', order, scope)}{size};"


def hints() -> Iterator[str]:
    for space, level in itertools.product(
        ("", "global", "local", "shared", "const", "param"),
        ("L1", "L2", "L3", "tensormap", "L2::evict_last", "L2::evict_normal", "L2::evict_first"),
    ):
        for root in ("prefetch", "prefetchu"):
            yield f"{_joined(root, space, level)} [%d0];"
        for root in ("discard", "applypriority"):
            yield f"{_joined(root, space, level)} [%d0], 128;"
    for type_ in ("", ".u32", ".u64", ".b32"):
        yield f"nanosleep{type_} 40;"
        yield f"setmaxnreg.inc.sync.aligned{type_} 40;"
    for name in ("", ".wait", ".launch_dependents", ".both"):
        yield f"griddepcontrol{name};"
    for count in (24, 40):
        yield f"setmaxnreg.dec.sync.aligned.u32 {count};"


def surfaces() -> Iterator[str]:
    """Unformatted ones, and reductions; ptxas dies of a reduction by an operation it lacks."""
    places = {"1d": "%r4", "2d": "%r4, %r5", "a1d": "%r4, %r5", "3d": "%r4, %r5, %r6, %r7"}
    modes = ("", "trap", "clamp", "zero")
    for (kind, place), mode, type_ in itertools.product(places.items(), modes, ("b16", "b32")):
        yield f"{_joined('suld.b', kind, type_, mode)} {_values(type_, 0)}, [%d8, {{{place}}}];"
        yield f"{_joined('sust.b', kind, type_, mode)} [%d8, {{{place}}}], {_values(type_, 0)};"
    for form, operation, kind, mode, type_ in itertools.product(
        ("b", "p"), OPERATIONS[:5], places, modes, LETTERS
    ):
        if (form, type_) == ("p", "b64") or (operation in OPERATIONS[3:] and type_ != "b32"):
            continue
        name = _joined("sured", form, operation, kind, type_, mode)
        yield f"{name} [%d8, {{{places[kind]}}}], {_values(type_, 0)};"
    for operator in ("ca", "cg", "cs", "cv", "wb", "wt"):
        yield f"suld.b.2d.{operator}.b32.trap %r0, [%d8, {{%r4, %r5}}];"
        yield f"sust.b.2d.{operator}.b32.trap [%d8, {{%r4, %r5}}], %r0;"


def warps() -> Iterator[str]:
    """Operations that name the lanes that take part; before PTX ISA 6.0 some did not."""
    for type_ in ("", *LETTERS):
        letter = LETTERS.get(type_, "r")
        yield f"{_joined('shfl.sync.bfly', type_)} %{letter}0, %{letter}1, %r2, 31, -1;"
        yield f"{_joined('vote.sync.ballot', type_)} %{letter}0, %p1, -1;"
        yield f"{_joined('elect.sync', type_)} %r0|%p0, -1;"
        yield f"{_joined('activemask', type_)} %{letter}0;"
        for kind, mode in itertools.product(("any", "all"), (".sync", "")):
            members = ", -1" if mode else ""
            yield f"{_joined(f'match.{kind}{mode}', type_)} %r0, %{letter}1{members};"
        for operation in OPERATIONS[:6]:
            yield f"{_joined('redux.sync', operation, type_)} %{letter}0, %{letter}1, -1;"
    for root, end in itertools.product(("bar", "barrier"), ("", ".sync", ".sync.aligned")):
        yield f"{root}.warp{end} -1;"
    orders = ("", "relaxed", "acquire", "release")
    for half, order, end in itertools.product(("arrive", "wait"), orders, ("", "aligned")):
        yield f"{_joined('barrier.cluster', half, order, end)};"


def mbarriers() -> Iterator[str]:
    arrivals = [f"{a}{b}" for a in ("arrive", "arrive_drop") for b in ("", ".expect_tx")]
    arrivals += ["arrive.noComplete", "arrive_drop.noComplete"]
    orders = ("", "release", "relaxed", "acquire")
    for order, scope, space in itertools.product(orders, SCOPES[:4], ("", *SPACES[3:])):
        place = "[%r0]" if space else "[%d0]"
        name = _joined(order, scope, space, "b64")
        state = "_" if space == "shared::cluster" else "%d1"
        for form in arrivals:
            yield f"mbarrier.{form}.{name} {state}, {place}, 4;"
        for form in ("test_wait", "try_wait"):
            yield f"mbarrier.{form}.{name} %p0, {place}, %d1;"
            yield f"mbarrier.{form}.parity.{name} %p0, {place}, %r1;"
        yield f"mbarrier.inval.{name} {place};"
        for form in ("init", "expect_tx", "complete_tx"):
            yield f"mbarrier.{form}.{name} {place}, 4;"
        yield f"mbarrier.init.{_joined(order, scope, space)} {place}, 4;"
    for end in (".b64", "", ".noinc", ".noinc.b64", ".shared.b64", ".noinc.shared::cta.b64"):
        yield f"cp.async.mbarrier.arrive{end} [%r0];"


GRIDS = (atomics, vectors, multimems, fences, hints, surfaces, warps, mbarriers)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.__name__)
def test_the_assembler_takes_the_same_statements(grid: Grid, tmp_path: Path) -> None:
    statements = list(grid())
    legal = assembler.assembled(statements, tmp_path)
    assert 20 < len(legal) < len(statements)
    assert assembler.taken(statements) ^ legal == set()
