"""Tensor memory: allocation, registers in and out, copies from shared memory, shifts."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError, PtxSyntaxError, UnsupportedInstruction
from kernelcast.simcore.engine.reference.tensor_memory import TensorMemory

Array = npt.NDArray[Any]
oracle: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "tcgen05_program.py"))
)
comparison: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
COLUMNS = 64
NOTHING = np.zeros(512, np.uint32)
TILE = np.random.default_rng(5).integers(0, 256, 65536).astype(np.uint8)


def holder(shape: str, register: int, thread: int) -> tuple[int, int]:
    """(lane, column) as the manual's figures draw fragments."""
    match shape:
        case "32x32b":
            return thread, register
        case "16x64b":
            return thread // 4 + (8 if thread & 1 else 0), 2 * register + (thread >> 1 & 1)
        case "16x128b":
            return thread // 4 + (8 if register & 1 else 0), register // 2 * 4 + thread % 4
        case "16x256b":
            row = thread // 4 + (8 if register & 2 else 0)
            return row, register // 4 * 8 + thread % 4 * 2 + (register & 1)
    return thread % 16, register + (16 if thread >= 16 else 0)


def moved(shape: str, count: int, is_store: bool, packing: str = "", lane: int = 0) -> str:
    """What is left in tensor memory when warps store, or load and write to the buffer."""
    each = {"16x128b": 2, "16x256b": 4}.get(shape, 1)
    registers = each * count
    names = "{" + ", ".join(f"%v{i}" for i in range(registers)) + "}"
    split = ", 16" if shape == "16x32bx2" else ""
    name = f"tcgen05.{'st' if is_store else 'ld'}.sync.aligned.{shape}.x{count}{packing}.b32"
    if is_store:
        loads = "\n".join(f"ld.global.b32 %v{i}, [%rd2+{512 * i}];" for i in range(registers))
        body = f"{loads}\n{name} [%q+{lane << 16}]{split}, {names};"
    else:
        fills = "\n".join(
            f"ld.global.b32 %w, [%rd4+{512 * c}]; "
            f"tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+{c}], {{%w}};"
            for c in range(COLUMNS)
        )
        stores = "\n".join(f"st.global.b32 [%rd2+{512 * i}], %v{i};" for i in range(registers))
        body = f"mad.wide.u32 %rd4, %r0, 4, %rd3;\n{fills}\n"
        body += f"{name} {names}, [%q+{lane << 16}]{split};\n{stores}"
    body = f"mad.wide.u32 %rd2, %r0, 4, %rd2;\n{body}\n{oracle.COMMIT}"
    return str(oracle.program(body, f".reg .b32 %v<{registers}>;", COLUMNS))


SHAPES = [
    ("32x32b", 1), ("32x32b", 64), ("16x64b", 1), ("16x64b", 16), ("16x128b", 1), ("16x128b", 8),
    ("16x256b", 1), ("16x256b", 8), ("16x32bx2", 1), ("16x32bx2", 8),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "count"), SHAPES)
def test_loads(shape: str, count: int) -> None:
    registers = count * {"16x128b": 2, "16x256b": 4}.get(shape, 1)
    given = np.arange(COLUMNS * 128, dtype=np.uint32).reshape(COLUMNS, 128)
    found = np.zeros((registers, 128), np.uint32)
    oracle.run(moved(shape, count, False), TILE, found, given, COLUMNS)
    for register in range(registers):
        for thread in range(128):
            lane, column = holder(shape, register, thread % 32)
            assert found[register, thread] == given[column, thread // 32 * 32 + lane]


@pytest.mark.parametrize(("shape", "count"), SHAPES)
def test_stores(shape: str, count: int) -> None:
    registers = count * {"16x128b": 2, "16x256b": 4}.get(shape, 1)
    given = np.arange(1, registers * 128 + 1, dtype=np.uint32).reshape(registers, 128)
    found = oracle.run(moved(shape, count, True), TILE, given, NOTHING, COLUMNS)
    wanted = np.zeros_like(found)
    for register in range(registers):
        for thread in range(128):
            lane, column = holder(shape, register, thread % 32)
            wanted[thread // 32 * 32 + lane, column] = given[register, thread]
    np.testing.assert_array_equal(found, wanted)


def test_the_lower_halves_of_two_columns_in_a_register() -> None:
    given = np.random.default_rng(2).integers(0, 2**32, (8, 128)).astype(np.uint32)
    found = oracle.run(moved("32x32b", 8, True, ".unpack::16b"), TILE, given, NOTHING, COLUMNS)
    np.testing.assert_array_equal(found[:, 0:16:2], given.T & 0xFFFF)
    np.testing.assert_array_equal(found[:, 1:16:2], given.T >> 16)
    memory = np.random.default_rng(3).integers(0, 2**32, (COLUMNS, 128)).astype(np.uint32)
    back = np.zeros((4, 128), np.uint32)
    oracle.run(moved("32x32b", 4, False, ".pack::16b"), TILE, back, memory, COLUMNS)
    np.testing.assert_array_equal(back, memory[0:8:2] & 0xFFFF | memory[1:8:2] << 16)


def described(start: int, leading: int, stride: int, swizzle: int = 0) -> str:
    """PTX that leaves a descriptor of the tile in %rd5."""
    fixed = start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | 1 << 46 | swizzle << 61
    return f"shr.u32 %r5, %tile, 4; cvt.u64.u32 %rd5, %r5; add.u64 %rd5, %rd5, {fixed};"


PLACES = {
    "128x256b": (2, [(lane, lane) for lane in range(128)]),
    "128x128b": (1, [(lane, lane) for lane in range(128)]),
    "64x128b.warpx2::02_13": (1, [(lane, lane % 64) for lane in range(128)]),
    "64x128b.warpx2::01_23": (1, [(lane, lane // 64 * 32 + lane % 32) for lane in range(128)]),
    "32x128b.warpx4": (1, [(lane, lane % 32) for lane in range(128)]),
}


@pytest.mark.parametrize("shape", PLACES)
def test_copies_from_shared_memory(shape: str) -> None:
    pieces, places = PLACES[shape]
    body = f"{described(256, 2048, 128)} @%first tcgen05.cp.cta_group::1.{shape} [%t+8], %rd5;"
    found = oracle.run(
        oracle.program(f"{body}\n{oracle.COMMIT}", "", 32), TILE, NOTHING, NOTHING, 32
    )
    rows = TILE[256 : 256 + 2 * 2048].reshape(2, 16, 8, 16).transpose(1, 2, 0, 3).reshape(128, 32)
    wanted = np.zeros_like(found)
    for lane, row in places:
        wanted[lane, 8 : 8 + 4 * pieces] = rows[row, : 16 * pieces].view(np.uint32)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("source", "bits", "shift"), [("b4x16_p64", 4, 2), ("b6x16_p32", 6, 0)])
def test_copies_that_spread_elements(source: str, bits: int, shift: int) -> None:
    name = f"tcgen05.cp.cta_group::1.128x128b.b8x16.{source}"
    body = f"{described(0, 128, 128)} @%first {name} [%t], %rd5;"
    found = oracle.run(
        oracle.program(f"{body}\n{oracle.COMMIT}", "", 32), TILE, NOTHING, NOTHING, 32
    )
    for lane in (0, 5, 127):
        whole = int.from_bytes(TILE[16 * lane : 16 * lane + 16].tobytes(), "little")
        codes = [whole >> bits * i & (1 << bits) - 1 for i in range(16)]
        assert found[lane, :4].view(np.uint8).tolist() == [code << shift for code in codes]


def test_a_shift_moves_eight_columns_one_lane_down() -> None:
    body = f"""{described(0, 2048, 128)} @%first tcgen05.cp.cta_group::1.128x256b [%t], %rd5;
        add.u32 %r6, %t, {32 << 16}; @%first tcgen05.shift.cta_group::1.down [%r6];"""
    before = oracle.program(f"{body.split('add.u32 %r6')[0]}\n{oracle.COMMIT}", "", 32)
    after = oracle.program(f"{body}\n{oracle.COMMIT}", "", 32)
    was, found = (oracle.run(text, TILE, NOTHING, NOTHING, 32) for text in (before, after))
    wanted = was.copy()
    wanted[33:64, :8] = was[32:63, :8]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%q+32];", "not allocated"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%t];", "number 1 of four"),
        ("@%first tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%q];", "did not come"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%r0];", "different addresses"),
        ("@!%p0 tcgen05.alloc.cta_group::1.sync.aligned.b32 [%place], 512;", "no 512 columns"),
        ("@!%p0 tcgen05.alloc.cta_group::1.sync.aligned.b32 [%place], 48;", "powers of two"),
        ("@!%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 64;", "not allocated"),
        ("@%first tcgen05.shift.cta_group::1.down [%t+65536];", "no multiple of 32"),
    ],
)
def test_what_goes_wrong(body: str, reason: str) -> None:
    with pytest.raises(MemoryAccessError, match=reason):
        oracle.run(oracle.program(body, "", 32), TILE, NOTHING, NOTHING, 32)


def test_a_mistake_of_ours_is_no_error_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(TensorMemory, "_shift", broken)
    body = "@%first tcgen05.shift.cta_group::1.down [%t];"
    with pytest.raises(ValueError, match="broadcast"):
        oracle.run(oracle.program(body, "", 32), TILE, NOTHING, NOTHING, 32)


def test_native_code_refuses_with_the_same_words() -> None:
    body = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%t];"
    text = oracle.program(body, "", 32)
    kernel, launch = oracle.launched(text, TILE, NOTHING, NOTHING, 32)
    with pytest.raises(MemoryAccessError, match=r"number 1 of four.*thread \(32, 0, 0\)"):
        comparison.run_on_both(kernel, launch)


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("min.f32", lambda x: np.fmin.reduce(x)),
        ("max.abs.f32", lambda x: np.fmax.reduce(abs(x))),
        ("f32.max.NaN", lambda x: np.maximum.reduce(x)),
        ("min.s32", lambda x: np.minimum.reduce(x.view(np.int32))),
        ("u32.max", lambda x: np.maximum.reduce(x.view(np.uint32))),
    ],
)
def test_loads_that_reduce(way: str, expected: Callable[[Array], Array]) -> None:
    """The registers are there as well; a NaN is looked over unless it is asked for."""
    values = np.random.default_rng(5).normal(size=(8, 128)).astype(np.float32)
    values[2, 40] = np.nan
    body = f"""mad.wide.u32 %rd4, %r0, 4, %rd3; mad.wide.u32 %rd2, %r0, 4, %rd2;
        ld.global.b32 %v0, [%rd4]; ld.global.b32 %v1, [%rd4+512]; ld.global.b32 %v2, [%rd4+1024];
        ld.global.b32 %v3, [%rd4+1536];
        tcgen05.st.sync.aligned.32x32b.x4.b32 [%q], {{%v0, %v1, %v2, %v3}};
        tcgen05.ld.red.sync.aligned.32x32b.x4.{way} {{%v4, %v5, %v6, %v7}}, %w, [%q];
        st.global.b32 [%rd2], %w; st.global.b32 [%rd2+512], %v5; {oracle.COMMIT}"""
    found = np.zeros((2, 128), np.uint32)
    numbers = values.view(np.uint32)
    oracle.run(oracle.program(body, ".reg .b32 %v<8>;", 32), TILE, found, numbers, 32)
    wanted = np.ascontiguousarray(expected(values[:4]))
    is_nan = np.isnan(wanted) if wanted.dtype == np.float32 else np.zeros(128, np.bool_)
    np.testing.assert_array_equal(found[0][~is_nan], wanted.view(np.uint32)[~is_nan])
    assert np.isnan(found[0].view(np.float32)[is_nan]).all()
    np.testing.assert_array_equal(found[1], numbers[1])


@pytest.mark.parametrize("shape", ["16x32bx2.x2", "32x32b.x1", "16x64b.x2"])
def test_reductions_that_are_refused(shape: str) -> None:
    split = ", 16" if "x2." in shape else ""
    body = f"tcgen05.ld.red.sync.aligned.{shape}.max.u32 {{%r4, %r5}}, %r6, [%q]{split};"
    with pytest.raises((UnsupportedInstruction, PtxSyntaxError)):
        oracle.run(oracle.program(body, "", 32), TILE, NOTHING, NOTHING, 32)
