"""Variables and parameters: places, sizes, initial data."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import PtxSyntaxError, UnsupportedInstruction
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

Compile = Callable[..., Kernel]


def test_shared_variables_lie_one_after_the_other(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        ".shared .b8 a[3]; .shared .align 4 .b8 b[12]; .shared .b8 c[20]; .shared .u32 d;"
        "mov.u32 %r1, d; mov.u32 %r1, c; mov.u32 %r1, a; mov.u32 %r1, b; ret;"
    )
    assert {s.name: (s.offset, s.size) for s in kernel.symbols.values()} == {
        "a": (0, 3),
        "b": (4, 12),
        "c": (16, 20),  # 16 bytes and more are aligned to 16
        "d": (36, 4),
    }
    assert kernel.shared_bytes == 40
    assert not kernel.uses_dynamic_shared


def test_only_used_variables_count(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        ".shared .b8 a[64]; .local .b8 l[8]; ld.shared.u8 %rs1, [b]; ret;",
        module=".shared .b8 b[8]; .global .u32 g;",
    )
    assert list(kernel.symbols) == ["b"]
    assert (kernel.shared_bytes, kernel.local_bytes) == (8, 0)


def test_the_dynamic_array_follows_the_static_ones(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        ".shared .b8 a[20]; mov.u32 %r1, pool; mov.u32 %r2, again; mov.u32 %r3, a; ret;",
        module=".extern .shared .align 16 .b8 pool[]; .extern .shared .align 64 .f32 again[];",
    )
    pool, again = kernel.symbols["pool"], kernel.symbols["again"]
    assert (pool.size, pool.offset, again.size, again.offset) == (0, 32, 0, 64)
    assert kernel.shared_bytes == 20
    assert kernel.uses_dynamic_shared


def test_local_memory_is_a_multiple_of_its_alignment(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        ".local .align 8 .b8 depot[40]; .local .u8 x; mov.u64 %rd1, depot; mov.u64 %rd2, x; ret;"
    )
    assert (kernel.symbols["depot"].offset, kernel.symbols["x"].offset) == (0, 40)
    assert kernel.local_bytes == 48


@pytest.mark.parametrize(
    ("declaration", "data"),
    [
        (".global .u32 x = 7;", struct.pack("<I", 7)),
        (".global .s16 x[3] = {-1, 2};", struct.pack("<3h", -1, 2, 0)),
        (".const .b8 x[5] = {1, 255, 0x80};", bytes((1, 255, 128, 0, 0))),
        (".global .f32 x[2] = {0f3FC00000, 2.5};", struct.pack("<2f", 1.5, 2.5)),
        (".global .f64 x = 0d3FF8000000000000;", struct.pack("<d", 1.5)),
        (".global .f64 x = 0f3FC00000;", struct.pack("<d", 1.5)),
        (".global .f32 x = 3;", struct.pack("<f", 3)),
        (".global .b32 x = 0f3FC00000;", struct.pack("<f", 1.5)),
        (f".global .f64 x = {1 << 2000};", struct.pack("<d", float("inf"))),
        (f".global .f32 x[2] = {{1e200, -{1 << 200}}};", struct.pack("<2f", np.inf, -np.inf)),
        (".global .u8 x[2][2] = {{1}, {2, 3}};", bytes((1, 2, 3, 0))),
        (".global .align 16 .u64 x[2];", b""),
    ],
)
def test_initial_data(compile_ptx: Compile, declaration: str, data: bytes) -> None:
    kernel = compile_ptx("mov.u64 %rd1, x; ret;", module=declaration)
    assert kernel.symbols["x"].data == data


def test_addresses_in_initial_data(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "ld.global.u64 %rd1, [list]; ret;",
        module=(
            ".global .u32 a; .const .u32 b; .global .u32 unused;\n"
            ".global .u64 list[3] = {a, generic(b)+4, 5};"
        ),
    )
    assert sorted(kernel.symbols) == ["a", "b", "list"]
    assert kernel.symbols["list"].relocations == {0: "a", 8: "b"}
    assert kernel.symbols["list"].data == struct.pack("<3q", 0, 4, 5)


@pytest.mark.parametrize("addend", [(1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63)])
@pytest.mark.parametrize("of", ["a", "f"])
def test_addresses_in_initial_data_wrap_around(compile_ptx: Compile, of: str, addend: int) -> None:
    """A function's address is a number that the front end knows."""
    module = f".global .u32 a; .func f() {{ ret; }} .global .u64 x = {of}{addend:+};"
    (held,) = struct.unpack(
        "<Q", compile_ptx("mov.u64 %rd1, x; ret;", module=module).symbols["x"].data
    )
    assert (held - addend) % (1 << 64) < 1 << 32


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        (f".global .u64 x = a+{1 << 64};", f"address offset {1 << 64} does not fit 64 bits"),
        (f".global .u64 x = a-{(1 << 63) + 1};", "does not fit 64 bits"),
        (f".shared .b8 x{f'[{1 << 20}]' * 300};", "'x' does not fit 64 bits of addresses"),
        (".global .u8 x[8] = {0x0(a)};", "part 0x0 of an address"),
        (f".global .u8 x[8] = {{{0xFF << 640:#x}(a)}};", "of an address is not supported"),
    ],
)
def test_what_no_address_has_room_for(compile_ptx: Compile, declaration: str, reason: str) -> None:
    with pytest.raises((PtxSyntaxError, UnsupportedInstruction), match=reason):
        compile_ptx("mov.u64 %rd1, x; ret;", module=f".global .u32 a; {declaration}")


def test_an_address_written_byte_by_byte(compile_ptx: Compile) -> None:
    masks = ", ".join(f"{0xFF << 8 * k:#x}(a+3)" for k in range(8))
    kernel = compile_ptx(
        "ld.global.u8 %rs1, [x]; ret;",
        module=f".global .u32 a; .global .align 8 .b8 x[16] = {{9, 0, 0, 0, 0, 0, 0, 0, {masks}}};",
    )
    assert kernel.symbols["x"].relocations == {8: "a"}
    assert kernel.symbols["x"].data == struct.pack("<2q", 9, 3)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (".const .u32 c; .global .u64 x = c;", "address of 'c' within its own space"),
        (".global .u32 a; .global .u32 x = a;", "an address of 32 bits"),
        (".global .u32 a; .global .b8 x[8] = {0xFF00(a)};", "part 0xff00 of an address"),
        (".extern .global .u32 x;", "'x' is defined in another file"),
        (".global .texref x[4];", "arrays of .texref such as 'x'"),
    ],
)
def test_variables_that_a_kernel_cannot_use(compile_ptx: Compile, module: str, reason: str) -> None:
    compile_ptx("ret;", module=module)
    with pytest.raises(UnsupportedInstruction, match=reason):
        compile_ptx("mov.u64 %rd1, x; ret;", module=module)


def test_parameters_have_natural_alignment(compile_ptx: Compile) -> None:
    kernel = compile_ptx("ret;", "u8 a, u64 b, f32 c, b8 s[12], u16 d, f64 e")
    assert kernel.parameters == (
        Parameter("a", ScalarType.U8, 0, 1),
        Parameter("b", ScalarType.U64, 8, 8),
        Parameter("c", ScalarType.F32, 16, 4),
        Parameter("s", ScalarType.B8, 20, 12, is_struct=True),
        Parameter("d", ScalarType.U16, 32, 2),
        Parameter("e", ScalarType.F64, 40, 8),
    )


def test_constant_variables_do_not_overlap(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "ld.const.u8 %rs1, [a]; ld.const.f64 %fd1, [b]; ret;", module=".const .u8 a; .const .f64 b;"
    )
    assert [kernel.symbols[n].offset for n in "ab"] == [0, 8]
    assert kernel.symbols["a"].space is AddressSpace.CONST
