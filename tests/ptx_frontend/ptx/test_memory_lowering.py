"""Loads, stores, atomics, fences: spaces, vectors, modifiers and addresses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    Fence,
    Immediate,
    Kernel,
    Load,
    Register,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

Compile = Callable[..., Kernel]
MODULE = (
    ".global .u32 table[4]; .const .f32 w[4]; .shared .f32 tile[8]; .extern .shared .b8 pool[];"
)


@pytest.fixture
def lower(compile_ptx: Compile) -> Callable[[str], object]:
    """The first instruction of a kernel with parameters u32 n, u64 p, f64 x at 0, 8 and 16."""

    def build(text: str) -> object:
        return compile_ptx(f"{text} ret;", "u32 n, u64 p, f64 x", MODULE).blocks[0].body[0]

    return build


Lower = Callable[[str], object]


@pytest.mark.parametrize(
    ("text", "type_", "cache", "volatile", "count"),
    [
        ("ld.global.u32 %r1, [%rd1];", "u32", "", False, 1),
        ("ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];", "f32", "nc", False, 2),
        ("ld.global.L1::no_allocate.L2::128B.v4.b32 {%r1,%r2,_,%r4}, [%rd1];", "b32", "", False, 4),
        ("ld.global.cg.u64 %rd2, [%rd1];", "u64", "cg", False, 1),
        ("ld.volatile.global.s32 %r1, [%rd1];", "s32", "", True, 1),
        ("ld.relaxed.gpu.global.u32 %r1, [%rd1];", "u32", "", True, 1),
        ("ld.acquire.sys.global.u32 %r1, [%rd1];", "u32", "", True, 1),
        ("ld.weak.global.u32 %r1, [%rd1];", "u32", "", False, 1),
        ("ld.global.u8 %rs1, [%rd1];", "u8", "", False, 1),
        ("ld.global.s8 %r1, [%rd1];", "s8", "", False, 1),
        ("ld.global.s32 %rd2, [%rd1];", "s32", "", False, 1),
        ("ld.global.b32 { %r1 }, [ %rd1 + 0 ];", "b32", "", False, 1),
        ("ld.global.b16 %r1, [%rd1];", "b16", "", False, 1),
        ("ldu.global.f32 %f1, [%rd1];", "f32", "", False, 1),
    ],
)
def test_loads(lower: Lower, text: str, type_: str, cache: str, volatile: bool, count: int) -> None:
    found = lower(text)
    assert isinstance(found, Load)
    assert (found.type.ptx_name, found.cache, found.volatile) == (type_, cache, volatile)
    assert len(found.destinations) == count
    assert found.address.space is AddressSpace.GLOBAL


@pytest.mark.parametrize(
    ("text", "space", "base", "offset"),
    [
        ("ld.global.u32 %r1, [%rd1+8];", AddressSpace.GLOBAL, "%rd1", 8),
        ("ld.u32 %r1, [%rd1+-8];", AddressSpace.GENERIC, "%rd1", -8),
        ("ld.shared.u32 %r1, [%r2+4];", AddressSpace.SHARED, "%r2", 4),
        ("ld.shared::cta.u32 %r1, [%r2];", AddressSpace.SHARED, "%r2", 0),
        ("ld.local.u32 %r1, [%rd1];", AddressSpace.LOCAL, "%rd1", 0),
        ("ld.const.f32 %f1, [w+4];", AddressSpace.CONST, SymbolAddress("w"), 4),
        ("ld.shared.f32 %f1, [tile];", AddressSpace.SHARED, SymbolAddress("tile"), 0),
        ("ld.f32 %f1, [tile+12];", AddressSpace.SHARED, SymbolAddress("tile"), 12),
        ("ld.param.u64 %rd1, [p];", AddressSpace.PARAM, None, 8),
        ("ld.param.u32 %r1, [x+4];", AddressSpace.PARAM, None, 20),
        ("ld.param::entry.u32 %r1, [n];", AddressSpace.PARAM, None, 0),
    ],
)
def test_addresses(lower: Lower, text: str, space: AddressSpace, base: object, offset: int) -> None:
    found = lower(text)
    assert isinstance(found, Load)
    address = found.address
    shown = address.base.name if isinstance(address.base, Register) else address.base
    assert (address.space, shown, address.offset) == (space, base, offset)


def test_parameters_through_a_register(compile_ptx: Compile) -> None:
    kernel = compile_ptx("mov.b64 %rd1, x; ld.param.f64 %fd1, [%rd1]; ret;", "u32 n, f64 x")
    assert kernel.symbols["x"].space is AddressSpace.PARAM
    assert (kernel.symbols["x"].offset, kernel.symbols["x"].size) == (8, 8)
    load = kernel.blocks[0].body[1]
    assert isinstance(load, Load)
    assert load.address.space is AddressSpace.PARAM
    assert isinstance(load.address.base, Register)


@pytest.mark.parametrize(
    ("text", "type_", "sources"),
    [
        ("st.global.u32 [%rd1], %r1;", "u32", ["%r1"]),
        ("st.global.u8 [%rd1], %r1;", "u8", ["%r1"]),
        ("st.shared.v2.f32 [%r1+8], {%f1, %f2};", "f32", ["%f1", "%f2"]),
        ("st.local.u32 [%rd1], %rd2;", "u32", ["%rd2"]),
        ("st.global.s16 [%rd1], -1;", "s16", [Immediate(0xFFFF)]),
        ("st.global.f64 [%rd1], 0f3F800000;", "f64", [Immediate(0x3FF0000000000000)]),
        ("st.release.gpu.global.u32 [%rd1], { %r1 };", "u32", ["%r1"]),
    ],
)
def test_stores(lower: Lower, text: str, type_: str, sources: list[object]) -> None:
    found = lower(text)
    assert isinstance(found, Store)
    assert found.type.ptx_name == type_
    assert [s.name if isinstance(s, Register) else s for s in found.sources] == sources
    assert found.volatile == ("release" in text)


@pytest.mark.parametrize(
    ("text", "operation", "type_", "destination", "sources"),
    [
        ("atom.global.add.u32 %r1, [%rd1], %r2;", "add", "u32", "%r1", ["%r2"]),
        ("atom.add.noftz.f16 %rs1, [%rd1], %rs2;", "add", "f16", "%rs1", ["%rs2"]),
        (
            "atom.acq_rel.gpu.global.cas.b64 %rd2,[%rd1],%rd3,%rd4;",
            "cas",
            "b64",
            "%rd2",
            ["%rd3", "%rd4"],
        ),
        ("atom.global.inc.u32 %r1, [%rd1], 7;", "inc", "u32", "%r1", [Immediate(7)]),
        ("atom.global.exch.b32 _, [%rd1], %f1;", "exch", "b32", None, ["%f1"]),
        ("atom.global.min.s64 %rd2, [%rd1], %rd3;", "min", "s64", "%rd2", ["%rd3"]),
        ("red.global.add.f32 [%rd1], %f1;", "add", "f32", None, ["%f1"]),
        ("red.relaxed.sys.global.or.b32 [%rd1+4], %r1;", "or", "b32", None, ["%r1"]),
    ],
)
def test_atomics(
    lower: Lower, text: str, operation: str, type_: str, destination: str, sources: list[object]
) -> None:
    found = lower(text)
    assert isinstance(found, Atomic)
    assert (found.operation, found.type.ptx_name) == (operation, type_)
    assert (found.destination.name if found.destination else None) == destination
    assert [s.name if isinstance(s, Register) else s for s in found.sources] == sources


def test_atomic_on_a_shared_variable(lower: Lower) -> None:
    found = lower("atom.shared.add.f32 %f1, [tile+4], %f2;")
    assert isinstance(found, Atomic)
    assert found.address == Address(AddressSpace.SHARED, SymbolAddress("tile"), 4)
    assert found.type is ScalarType.F32


@pytest.mark.parametrize(
    "mnemonic", ["membar.gl", "membar.cta", "fence.acq_rel.gpu", "fence.sc.sys"]
)
def test_fences(lower: Lower, mnemonic: str) -> None:
    found = lower(f"{mnemonic};")
    assert isinstance(found, Fence)
    assert found.mnemonic == mnemonic


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ld.global.v2.b128 {%rd1, %rd3}, [%rd2];", "modifier '.b128'"),
        ("ld.global.u32 %r1, [16];", "absolute addresses"),
        ("atom.global.v2.u32.add {%r1, %r2}, [%rd1], {%r3, %r4};", "not supported"),
        ("atom.global.min.f32 %f1, [%rd1], %f2;", "no atomic min of type .f32"),
        ("fence.view.async;", "modifier '.view'"),
        ("ld.shared.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [tile];", "are for global memory"),
        ("st.local.v4.f64 [%rd5], {%rd1, %rd2, %rd3, %rd4};", "are for global memory"),
        (
            "ld.global.v8.u64 {%rd1, %rd2, %rd3, %rd4, %rd1, %rd2, %rd3, %rd4}, [%rd5];",
            "vectors of 8 are of 32 bits each",
        ),
    ],
)
def test_what_memory_instructions_cannot_do(compile_ptx: Compile, text: str, reason: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=reason):
        compile_ptx(f"{text} ret;")
