"""Launches on a device memory: pointers wherever they stand, variables that outlive launches."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import (
    InputError,
    KernelcastError,
    LaunchError,
    MemoryAccessError,
)
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.timing.kernel.pipelines import pipelines
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline

HEAD = ".version 8.0\n.target sm_70\n.address_size 64\n"
REGISTERS = "{ .reg .b32 %r<9>; .reg .b64 %rd<19>; .reg .f32 %f<9>; .reg .pred %p<3>; "
SCALE = f"""{HEAD}
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u32 n) {REGISTERS}
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [n];
    setp.ge.s32 %p1, %r4, %r5; @%p1 bra L;
    ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [y]; cvta.to.global.u64 %rd2, %rd2;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1;
L:  ret; }}
"""
STRUCT = f"""{HEAD}
.visible .entry k(.param .align 8 .b8 view[24]) {REGISTERS}
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    ld.param.u64 %rd1, [view]; ld.param.u64 %rd2, [view+16]; ld.param.u32 %r2, [view+8];
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.u32 %r3, [%rd4]; mul.lo.u32 %r3, %r3, %r2; st.u32 [%rd5], %r3;
    ret; }}
"""
LISTS = f"""{HEAD}
.visible .entry k(.param .u64 heads, .param .u64 sums) {REGISTERS}
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 8;
    ld.param.u64 %rd2, [heads]; add.s64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2];
    mov.u32 %r2, 0;
L:  setp.eq.u64 %p1, %rd3, 0; @%p1 bra E;
    ld.global.u32 %r3, [%rd3+8]; add.u32 %r2, %r2, %r3;
    ld.global.u64 %rd3, [%rd3]; bra L;
E:  mul.wide.u32 %rd4, %r1, 4; ld.param.u64 %rd5, [sums]; add.s64 %rd5, %rd5, %rd4;
    st.global.u32 [%rd5], %r2;
    ret; }}
"""
ATOMICS = f"""{HEAD}
.visible .entry k(.param .u64 places, .param .u64 old) {REGISTERS}
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 8;
    ld.param.u64 %rd2, [places]; add.s64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2];
    atom.global.add.u32 %r2, [%rd3], 3;
    mul.wide.u32 %rd4, %r1, 4; ld.param.u64 %rd5, [old]; add.s64 %rd5, %rd5, %rd4;
    st.global.u32 [%rd5], %r2;
    ret; }}
"""
VARIABLES = f"""{HEAD}
.const .align 4 .f32 factor = 0f40000000;
.const .align 4 .f32 table[4] = {{0f3F800000, 0f40000000, 0f40400000, 0f40800000}};
.global .align 4 .u32 counter = 5;
.global .align 8 .u64 to_table = generic(table);
.visible .entry count(.param .u64 out) {REGISTERS}
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mul.wide.u32 %rd1, %r2, 4;
    ld.const.f32 %f1, [factor]; mov.u64 %rd2, table; add.s64 %rd2, %rd2, %rd1;
    ld.const.f32 %f2, [%rd2]; mul.f32 %f3, %f1, %f2;
    ld.param.u64 %rd3, [out]; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4;
    st.global.f32 [%rd3], %f3; red.global.add.u32 [counter], 1;
    ret; }}
.visible .entry show(.param .u64 out) {REGISTERS}
    ld.param.u64 %rd3, [out]; ld.global.u32 %r1, [counter]; st.global.u32 [%rd3], %r1;
    ld.global.u64 %rd1, [to_table]; ld.u32 %r2, [%rd1+4]; st.global.u32 [%rd3+4], %r2;
    ret; }}
"""
HEAP = f"""{HEAD}
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 pointer);
.visible .entry keep(.param .u64 out) {REGISTERS}
    {{ .param .b64 size; st.param.b64 [size], 8; .param .b64 result;
      call.uni (result), malloc, (size); ld.param.b64 %rd1, [result]; }}
    mov.u32 %r1, 77; st.u32 [%rd1], %r1; ld.param.u64 %rd2, [out]; st.global.u64 [%rd2], %rd1;
    ret; }}
.visible .entry use(.param .u64 out) {REGISTERS}
    ld.param.u64 %rd2, [out]; ld.global.u64 %rd1, [%rd2]; ld.u32 %r1, [%rd1];
    st.global.u32 [%rd2+8], %r1;
    {{ .param .b64 pointer; st.param.b64 [pointer], %rd1; call.uni free, (pointer); }}
    ret; }}
"""
FUNCTIONS = f"""{HEAD}
.func (.param .b32 r) f(.param .b32 x);
.func (.param .b32 r) g(.param .b32 x);
.global .align 8 .u64 table[2] = {{f, g}};
.func (.param .b32 r) f(.param .b32 x) {{ .reg .b32 %r<3>;
    ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }}
.func (.param .b32 r) g(.param .b32 x) {{ .reg .b32 %r<3>;
    ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }}
.visible .entry k(.param .u64 out) {REGISTERS}
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; mul.wide.u32 %rd1, %r2, 8;
    mov.u64 %rd2, table; add.s64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2];
    {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
       proto: .callprototype (.param .b32 _) _ (.param .b32 _);
       call (b), %rd3, (a), proto; ld.param.b32 %r3, [b]; }}
    ld.param.u64 %rd4, [out]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5;
    st.global.u32 [%rd4], %r3; ret; }}
"""
ENGINES = ("jit", "reference")
WAYS = (
    {"engine": "jit", "code": "source"},
    {"engine": "reference", "code": "source"},
    {"engine": "jit", "code": "native", "target": "v100-pcie"},
    {"engine": "reference", "code": "native", "target": "a100-40gb"},
)
THREE_GPUS = ("gtx-480", "v100-pcie", "r9-nano")


@pytest.fixture(params=WAYS, ids=lambda way: f"{way['code']}-{way['engine']}")
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    """An engine and a code; skips machine code where there is no assembler."""
    chosen: dict[str, Any] = request.param
    if chosen["code"] == "native":
        try:
            kc.load_ptx(SCALE)["scale"].run(grid=1, block=1, args=[0, 0, 0], **chosen)
        except InputError:
            pytest.skip("no assembler is installed")
    return chosen


def put(memory: kc.DeviceMemory, array: npt.ArrayLike, name: str = "") -> kc.Allocation:
    values = np.asarray(array)
    found = memory.allocate(values.nbytes, name)
    memory.write(found, values)
    return found


def test_pointers_are_numbers_or_allocations(way: dict[str, Any]) -> None:
    x = np.random.default_rng(1).random(1000).astype(np.float32)
    memory = kc.DeviceMemory()
    source, target = put(memory, x, "source"), memory.allocate(4008, "target")
    kernel = kc.load_ptx(SCALE)["scale"]
    for pointer in (target, target + 8, np.uint64(target.address + 4)):
        kernel.run(grid=4, block=256, args=[source, pointer, 1000], memory=memory, **way)
        assert memory.read(int(pointer), 1000, np.float32).tolist() == (2 * x).tolist()
    assert memory.read(source, 1000, np.float32).tolist() == x.tolist()


def test_arrays_and_pointers_in_one_launch(way: dict[str, Any]) -> None:
    x, memory = np.arange(64, dtype=np.float32), kc.DeviceMemory()
    target = memory.allocate(256)
    kernel = kc.load_ptx(SCALE)["scale"]
    kernel.run(grid=1, block=64, args=[x, target, 64], memory=memory, **way)
    kernel.run(grid=1, block=64, args=[target, x, 64], memory=memory, **way)
    assert x.tolist() == [4 * i for i in range(64)]
    assert memory.allocations == (target,)


def test_a_view_of_the_memory_is_the_place_that_it_shows() -> None:
    memory = kc.DeviceMemory()
    x, y = put(memory, np.arange(64, dtype=np.float32)), memory.allocate(256)
    view = memory.view(x + 128, 128).view(np.float32)
    trace = kc.load_ptx(SCALE)["scale"].run(grid=1, block=32, args=[view, y, 32], memory=memory)
    assert trace.data.accesses.address.tolist() == [x + 128, int(y)]
    assert memory.read(y, 32, np.float32).tolist() == [2 * i for i in range(32, 64)]
    assert memory.place_of(view) == (x, x + 128)
    assert memory.place_of(np.zeros(1)) is None
    assert memory.place_of(view[:0]) is None


def test_pointers_within_a_struct(way: dict[str, Any]) -> None:
    memory = kc.DeviceMemory()
    x, y = put(memory, np.arange(32, dtype=np.uint32)), memory.allocate(128)
    view = struct.pack("<QIxxxxQ", x, 5, y)
    kc.load_ptx(STRUCT)["k"].run(grid=1, block=32, args=[view], memory=memory, **way)
    assert memory.read(y, 32, np.uint32).tolist() == [5 * i for i in range(32)]


def test_pointers_in_memory_lead_on(way: dict[str, Any]) -> None:
    """Lists of different length, whose items are allocations of their own in mixed order."""
    memory, rng = kc.DeviceMemory(), np.random.default_rng(3)
    lists = [rng.integers(0, 100, length).tolist() for length in rng.integers(0, 6, 32)]
    heads = np.zeros(32, np.uint64)
    for thread in rng.permutation(32):
        for value in reversed(lists[thread]):
            heads[thread] = int(put(memory, np.array([heads[thread], value], np.uint64)))
    sums = memory.allocate(128)
    args = [put(memory, heads), sums]
    kc.load_ptx(LISTS)["k"].run(grid=1, block=32, args=args, memory=memory, **way)
    assert memory.read(sums, 32, np.uint32).tolist() == [sum(items) for items in lists]


def test_atomics_reach_several_allocations(way: dict[str, Any]) -> None:
    """Old values at each place are 0, 3, 6, ... in some order, whoever gets which."""
    memory, rng = kc.DeviceMemory(), np.random.default_rng(4)
    counters = [memory.allocate(4) for _ in range(5)]
    chosen = rng.integers(0, 5, 64)
    old = memory.allocate(256)
    places = put(memory, np.array([counters[n].address for n in chosen], np.uint64))
    kc.load_ptx(ATOMICS)["k"].run(grid=1, block=64, args=[places, old], memory=memory, **way)
    seen = memory.read(old, 64, np.uint32)
    for number, counter in enumerate(counters):
        count = int((chosen == number).sum())
        assert memory.read(counter, 1, np.uint32).tolist() == [3 * count]
        assert sorted(seen[chosen == number].tolist()) == [3 * i for i in range(count)]


def test_variables_live_with_their_module(way: dict[str, Any]) -> None:
    memory, module = kc.DeviceMemory(), kc.load_ptx(VARIABLES)
    out = memory.allocate(128)

    def counted() -> list[float]:
        module["count"].run(grid=1, block=32, args=[out], memory=memory, **way)
        return list(memory.read(out, 4, np.float32))

    def shown() -> tuple[int, float]:
        module["show"].run(grid=1, block=1, args=[out], memory=memory, **way)
        number = memory.read(out, 1, np.uint32)[0]
        return int(number), float(memory.read(out + 4, 1, np.float32)[0])

    assert counted() == [2, 4, 6, 8]
    memory.write(module.variable("factor", memory), np.float32(10))
    memory.write(module.variable("table", memory) + 4, np.float32(7))
    assert counted() == [10, 70, 30, 40]
    assert shown() == (5 + 64, 7)
    assert memory.read(module.variable("counter", memory), 1, np.uint32).tolist() == [69]
    memory.write(module.variable("counter", memory), np.uint32(1))
    assert shown() == (1, 7)
    module.unload(memory)
    assert memory.allocations == (out,)
    assert shown() == (5, 2)
    assert counted() == [2, 4, 6, 8]


def test_variables_of_a_cubin_have_names(tmp_path: Path) -> None:
    """Machine code alone: the host writes a constant variable before the first launch."""
    from kernelcast.inputs.native.assembler import assemble

    cubin = tmp_path / "variables.cubin"
    try:
        cubin.write_bytes(assemble(VARIABLES, "sm_80", "variables.ptx"))
        module = kc.load(cubin)
    except InputError:
        pytest.skip("no assembler is installed")
    memory = kc.DeviceMemory()
    out = memory.allocate(128)
    memory.write(module.variable("factor", memory), np.float32(10))
    for count in (1, 2):
        module["count"].run(grid=1, block=32, args=[out], memory=memory)
        assert memory.read(out, 4, np.float32).tolist() == [10, 20, 30, 40]
        place = module.variable("counter", memory)
        assert memory.read(place, 1, np.uint32).tolist() == [5 + 32 * count]


@pytest.mark.parametrize("way", WAYS[2:], ids=lambda way: str(way["engine"]), indirect=True)
def test_constant_operands_of_machine_code_take_no_unit(way: dict[str, Any]) -> None:
    """`c[3][...]` is an operand: its value is read anew in each launch, and nothing counts that."""
    out = np.zeros(32, np.float32)
    found = kc.load_ptx(VARIABLES)["count"].run(grid=1, block=32, args=[out], **way)
    trace = found.data
    operands = [row for row in trace.instructions if row.is_part and row.space == "const"]
    assert operands
    assert not any(row.is_counted_natively for row in operands)
    memory = simulate_memory(trace, kc.device(way["target"]), 1)
    units = pipelines(trace.instructions, memory)
    assert {units[row.pc] for row in operands} == {Pipeline.NONE}


def test_modules_and_memories_have_variables_of_their_own() -> None:
    first, second = kc.DeviceMemory(), kc.DeviceMemory()
    module, twin = kc.load_ptx(VARIABLES), kc.load_ptx(VARIABLES)
    out, other = first.allocate(128), second.allocate(128)
    module["count"].run(grid=1, block=32, args=[out], memory=first)
    twin["count"].run(grid=2, block=32, args=[out], memory=first)
    module["count"].run(grid=3, block=32, args=[other], memory=second)
    places = (
        (first, module.variable("counter", first)),
        (first, twin.variable("counter", first)),
        (second, module.variable("counter", second)),
    )
    found = [int(memory.read(place, 1, np.uint32)[0]) for memory, place in places]
    assert found == [5 + 32, 5 + 64, 5 + 96]
    with pytest.raises(LaunchError, match="no kernel uses a variable 'contour'"):
        module.variable("contour", first)


def test_a_table_of_functions_belongs_to_one_code(way: dict[str, Any]) -> None:
    memory, module = kc.DeviceMemory(), kc.load_ptx(FUNCTIONS)
    out = memory.allocate(128)
    for _ in range(2):
        module["k"].run(grid=1, block=32, args=[out], memory=memory, **way)
        found = memory.read(out, 32, np.uint32).tolist()
        assert found == [3 * i if i % 2 else i + 1 for i in range(32)]
    if way["code"] == "native":
        with pytest.raises(LaunchError, match="variable table has other initial contents"):
            module["k"].run(grid=1, block=32, args=[out], memory=memory, code="source")


def test_without_a_memory_variables_begin_anew() -> None:
    kernel, out = kc.load_ptx(VARIABLES)["show"], np.zeros(2, np.uint32)
    for _ in range(2):
        kernel.run(grid=1, block=1, args=[out])
        assert out[0] == 5


def test_the_heap_lives_with_the_memory() -> None:
    memory, module = kc.DeviceMemory(), kc.load_ptx(HEAP)
    out = memory.allocate(16)
    module["keep"].run(grid=1, block=1, args=[out], memory=memory)
    first = int(memory.read(out, 1, np.uint64)[0])
    module["keep"].run(grid=1, block=1, args=[out], memory=memory)
    assert int(memory.read(out, 1, np.uint64)[0]) >= first + 8
    module["use"].run(grid=1, block=1, args=[out], memory=memory, engine="reference")
    assert memory.read(out + 8, 1, np.uint32).tolist() == [77]
    with pytest.raises(KernelcastError, match="which malloc did not give or free took back"):
        module["use"].run(grid=1, block=1, args=[out], memory=memory)


@pytest.mark.parametrize("code", ["source", "auto"])
def test_several_gpus_execute_from_the_same_contents(code: str) -> None:
    """Warps of 32 and 64 threads, and machine code where there is an assembler: one launch."""
    memory, module = kc.DeviceMemory(), kc.load_ptx(VARIABLES)
    out = memory.allocate(128)
    for launches in (1, 2):
        module["count"].run(
            grid=1, block=32, args=[out], memory=memory, devices=THREE_GPUS, code=code
        )
        place = module.variable("counter", memory)
        assert memory.read(place, 1, np.uint32).tolist() == [5 + 32 * launches]


def test_estimates_are_those_of_arrays(way: dict[str, Any]) -> None:
    """Arrays and allocations that are made in the same order have the same addresses."""
    n = 1 << 14
    x, y = np.random.default_rng(5).random((2, n)).astype(np.float32)
    memory = kc.DeviceMemory()
    a, b = put(memory, x), put(memory, y)
    kernel = kc.load_ptx(SCALE)["scale"]
    launch: dict[str, Any] = {"grid": n // 256, "block": 256}
    options: dict[str, Any] = {
        "engine": way["engine"],
        "code": way["code"],
        "devices": ("v100-pcie",),
    }
    traces = [
        kernel.run(args=[x, y, n], **launch, **options),
        kernel.run(args=[a, int(b), n], memory=memory, **launch, **options),
    ]
    times = [
        kc.estimate(trace.profile("v100-pcie"), model).time_s
        for trace in traces
        for model in ("interval", "quantitative-roofline")
    ]
    assert times[:2] == times[2:]
    mixed = kernel.run(args=[x, y, n], memory=memory, **launch, **options)
    assert kc.estimate(mixed.profile("v100-pcie")).time_s == times[0]
    assert memory.read(b, n, np.float32).tolist() == y.tolist() == (2 * x).tolist()


def test_traces_have_the_addresses_of_the_memory(way: dict[str, Any]) -> None:
    memory = kc.DeviceMemory()
    memory.allocate(10_000)
    x, y = memory.allocate(1 << 10), memory.allocate(1 << 10)
    kernel = kc.load_ptx(SCALE)["scale"]
    trace = kernel.run(grid=1, block=32, args=[x + 64, y, 32], memory=memory, **way).data
    assert trace.accesses.address.tolist() == [x + 64, y.address]


def test_the_example_of_the_docs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "device-memory.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(root)
    exec(compile(code, "device-memory.md", "exec"), {})
    assert capsys.readouterr().out.strip() == code.split("  # ")[1].splitlines()[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_faults_name_the_allocation_and_the_argument(engine: str) -> None:
    memory, kernel = kc.DeviceMemory(), kc.load_ptx(SCALE, "scale.ptx")["scale"]
    weights, gone = memory.allocate(128, "weights"), memory.allocate(128, "gone")
    memory.free(gone)

    def message(*args: kc.Allocation | int) -> str:
        with pytest.raises(MemoryAccessError) as fault:
            kernel.run(grid=1, block=40, args=[*args, 40], memory=memory, engine=engine)
        return str(fault.value)

    found = message(weights, weights)
    assert "load of 4 bytes" in found
    assert "0 bytes past the end of weights (128 bytes, argument x, y)" in found
    assert "thread (32, 0, 0) of thread block (0, 0, 0)" in found
    assert "scale.ptx:14:" in found
    assert "inside gone (128 bytes, argument x), which was freed" in message(gone.address, 0)
    assert "bytes before weights" in message(0, 0)
    assert "misaligned for 4 bytes" in message(weights + 2, 0)


def test_a_read_only_array_stays_so_by_its_address() -> None:
    memory, constants = kc.DeviceMemory(), np.zeros(32, np.float32)
    constants.flags.writeable = False
    place, kernel = memory.adopt(constants, "constants"), kc.load_ptx(SCALE)["scale"]
    args: list[Any] = [place, place.address, 32]
    for engine in ENGINES:
        with pytest.raises(MemoryAccessError, match="store to a read-only array"):
            kernel.run(grid=1, block=32, args=args, memory=memory, engine=engine)


def test_an_allocation_must_be_of_the_memory_of_the_launch() -> None:
    memory, other = kc.DeviceMemory(), kc.DeviceMemory(name="other memory")
    x, kernel = memory.allocate(128, "x"), kc.load_ptx(SCALE)["scale"]
    launch: dict[str, Any] = {"grid": 1, "block": 32}
    with pytest.raises(LaunchError, match=r"argument 1 \(x\) is a device pointer: run the kernel"):
        kernel.run(args=[x, x, 32], **launch)
    with pytest.raises(LaunchError, match=r"\(x\) is x, which other memory does not hold"):
        kernel.run(args=[x, x, 32], memory=other, **launch)
    memory.free(x)
    with pytest.raises(LaunchError, match="it was freed, or is of another memory"):
        kernel.run(args=[x, x, 32], memory=memory, **launch)
    with pytest.raises(LaunchError, match=r"argument 3 \(n\) is a pointer but the kernel takes"):
        kernel.run(args=[0, 0, memory.allocate(4)], memory=memory, **launch)


def test_other_allocations_need_no_other_code() -> None:
    """What was compiled for arrays serves for every pair of pointers: they cost the same."""
    from kernelcast.simcore.engine.jit.runtime.run import _generated

    memory, kernel = kc.DeviceMemory(), kc.load_ptx(SCALE)["scale"]
    arrays = np.zeros((2, 32), np.float32)
    before = _generated.cache_info().misses
    kernel.run(grid=1, block=32, args=[*arrays, 32], engine="jit")
    for _ in range(4):
        x, y = memory.allocate(128), memory.allocate(128)
        kernel.run(grid=1, block=32, args=[x.address, y + 0, 32], memory=memory, engine="jit")
    assert _generated.cache_info().misses == before + 1


def test_a_sample_of_paths_leaves_memory_and_heap_as_they_were() -> None:
    """Paths are executed ahead of the launch: counters and `malloc` count it once."""
    memory, module, heap = kc.DeviceMemory(), kc.load_ptx(VARIABLES), kc.load_ptx(HEAP)
    out = memory.allocate(128)
    module["count"].run(grid=1, block=32, args=[out], memory=memory, record_paths=True)
    place = module.variable("counter", memory)
    assert memory.read(place, 1, np.uint32).tolist() == [37]
    heap["keep"].run(grid=3, block=1, args=[out], memory=memory, record_paths=True)
    assert len(memory.heap(0).taken) == 3
