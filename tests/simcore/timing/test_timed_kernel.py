"""What the timing simulator is told of a kernel, against closed forms and other counters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.memory.hierarchy import WriteBacks
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.from_trace import timed_kernel
from kernelcast.simcore.timing.kernel.memory_levels import l2_waits
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

Compile = Callable[..., Kernel]
START = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u64 %rd1, [out];
"""


def timed(
    kernel: Kernel,
    device: str = "a100-80gb",
    *,
    elements: int = 1 << 16,
    grid: int = 1,
    threads: int = 32,
) -> TimedKernel:
    out = np.zeros(elements, np.uint32)
    width = load_device(device).architecture.warp_width
    trace = RunnableKernel(kernel).run(
        grid=grid, block=threads, args=[out], warp_width=width, record_paths=True
    )
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    return found


def pipeline_of(kernel: Kernel, found: TimedKernel, mnemonic: str) -> Pipeline:
    pcs = [i.pc for i in kernel.instructions if i.mnemonic == mnemonic]
    assert len(pcs) == 1, mnemonic
    return found.pipeline[pcs[0]]


ONE_EACH = """
    cvta.to.global.u64 %rd2, %rd1; cvta.shared.u64 %rd3, %rd4; mov.u32 %r30, tile;
    add.f32 %f1, %f2, %f3; fma.rn.f64 %fd1, %fd2, %fd3, %fd4; add.f16 %rs1, %rs2, %rs3;
    add.s32 %r5, %r4, %r1; mul.lo.s32 %r6, %r4, %r1; mad.wide.s32 %rd5, %r4, 4, %rd1;
    cvt.rn.f32.s32 %f4, %r4; ex2.approx.ftz.f32 %f5, %f4; rcp.approx.ftz.f32 %f6, %f4;
    popc.b32 %r7, %r4;
    setp.lt.u32 %p1, %r1, 99; shfl.sync.down.b32 %r8, %r4, 1, 31, -1;
    vote.sync.any.pred %p2, %p1, -1;
    ld.shared.u32 %r9, [%r30]; st.shared.f32 [%r30], %f1; ld.const.u32 %r10, [table];
    ld.global.u32 %r11, [%rd2]; st.global.u32 [%rd2], %r5; st.local.u32 [depot], %r6;
    atom.global.add.u32 %r12, [%rd2], 1; red.global.add.u32 [%rd2], 1;
    membar.gl; bar.arrive 1, 64; bar.sync 1, 64; @%p1 bra END; END: ret;
"""
MEMORY = """
    .const .align 4 .b8 table[128]; .shared .align 4 .b8 tile[256];
"""


@pytest.mark.parametrize(
    ("mnemonic", "pipeline"),
    [
        ("ld.param.u64", Pipeline.NONE),
        ("cvta.to.global.u64", Pipeline.NONE),
        ("add.f32", Pipeline.FP32),
        ("fma.rn.f64", Pipeline.FP64),
        ("add.f16", Pipeline.HALF),
        ("add.s32", Pipeline.INTEGER),
        ("mul.lo.s32", Pipeline.INTEGER_MULTIPLY),
        ("mad.wide.s32", Pipeline.INTEGER_MULTIPLY),
        ("cvt.rn.f32.s32", Pipeline.CONVERSION),
        ("ex2.approx.ftz.f32", Pipeline.SPECIAL_FUNCTION),
        ("rcp.approx.ftz.f32", Pipeline.SPECIAL_FUNCTION),
        ("popc.b32", Pipeline.SPECIAL_FUNCTION),
        ("shfl.sync.down.b32", Pipeline.SHUFFLE),
        ("vote.sync.any.pred", Pipeline.INTEGER),
        ("ld.shared.u32", Pipeline.SHARED),
        ("st.shared.f32", Pipeline.SHARED),
        ("ld.const.u32", Pipeline.CONSTANT),
        ("ld.global.u32", Pipeline.GLOBAL),
        ("st.local.u32", Pipeline.GLOBAL),
        ("atom.global.add.u32", Pipeline.GLOBAL),
        ("membar.gl", Pipeline.FENCE),
        ("bar.arrive", Pipeline.INTEGER),
        ("bar.sync", Pipeline.BARRIER),
        ("bra", Pipeline.BRANCH),
        ("ret", Pipeline.EXIT),
    ],
)
def test_each_instruction_has_its_pipeline(
    compile_ptx: Compile, mnemonic: str, pipeline: Pipeline
) -> None:
    local = ".local .align 4 .b8 depot[4];"
    kernel = compile_ptx(local + START + ONE_EACH, module=MEMORY)
    found = timed(kernel)
    assert pipeline_of(kernel, found, mnemonic) is pipeline
    waited_for = [i.mnemonic for i in kernel.instructions if not found.is_store[i.pc]]
    is_waited_for = not mnemonic.startswith(("st.", "red."))
    assert (mnemonic in waited_for) is is_waited_for


CONVERSIONS = """
    cvt.f64.f32 %fd1, %f1; cvt.rn.f32.f64 %f2, %fd1; cvt.rn.f64.s32 %fd2, %r1;
    cvt.rzi.s64.f32 %rd2, %f1; cvt.rn.f32.s32 %f3, %r1; cvt.s64.s32 %rd3, %r1; ret;
"""


@pytest.mark.parametrize(
    ("device", "wide"),
    [
        ("quadro-rtx-4000", Pipeline.FP64),
        ("gtx-1070", Pipeline.FP64),
        ("a100-80gb", Pipeline.CONVERSION),
    ],
)
def test_conversions_of_64_bits_are_as_slow_as_double_precision(
    compile_ptx: Compile, device: str, wide: Pipeline
) -> None:
    """CUDA C++ Programming Guide, results a cycle: 2, 4 and 16, and 16, 32 and 16 of 32 bits."""
    kernel = compile_ptx(START + CONVERSIONS)
    found = timed(kernel, device)
    for mnemonic in ("cvt.f64.f32", "cvt.rn.f32.f64", "cvt.rn.f64.s32", "cvt.rzi.s64.f32"):
        assert pipeline_of(kernel, found, mnemonic) is wide
    assert pipeline_of(kernel, found, "cvt.rn.f32.s32") is Pipeline.CONVERSION
    assert pipeline_of(kernel, found, "cvt.s64.s32") is not Pipeline.FP64


def test_nothing_waits_for_a_reduction(compile_ptx: Compile) -> None:
    body = "red.global.add.u32 [%rd1], 1; atom.global.add.u32 %r5, [%rd1], 1; ret;"
    found = timed(compile_ptx(START + body))
    assert found.is_store[5:8].tolist() == [True, False, False]


def test_generic_accesses_go_where_they_point(compile_ptx: Compile) -> None:
    body = """
        mov.u32 %r5, tile; cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd3, %rd2;
        ld.u32 %r6, [%rd3]; ld.u32 %r7, [%rd1]; ret;
    """
    kernel = compile_ptx(START + body, module=MEMORY)
    found = timed(kernel)
    pcs = [i.pc for i in kernel.instructions if i.mnemonic == "ld.u32"]
    assert [found.pipeline[pc] for pc in pcs] == [Pipeline.SHARED, Pipeline.GLOBAL]


def numbers(row: npt.NDArray[np.int32]) -> set[int]:
    return {int(item) for item in row if item >= 0}


def test_registers_are_those_of_the_operands(compile_ptx: Compile) -> None:
    body = "setp.lt.u32 %p1, %r1, 9; @%p1 mad.lo.u32 %r5, %r4, %r1, %r5; st.global.u32 [%rd1], %r5;"
    kernel = compile_ptx(START + body + "@!%p1 bra END; add.u32 %r6, %r5, 1; END: ret;")
    found = timed(kernel)
    by_name = {register.name: register.index for register in kernel.registers}
    p1, r1, r4, r5 = (by_name[name] for name in ("%p1", "%r1", "%r4", "%r5"))
    assert (numbers(found.reads[5]), numbers(found.writes[5])) == ({r1}, {p1})
    assert (numbers(found.reads[6]), numbers(found.writes[6])) == ({p1, r4, r1, r5}, {r5})
    assert (numbers(found.reads[7]), numbers(found.writes[7])) == ({r5, by_name["%rd1"]}, set())
    assert (numbers(found.reads[8]), numbers(found.writes[8])) == ({p1}, set())


def test_a_wide_load_writes_what_it_swallows(compile_ptx: Compile) -> None:
    """Lanes that load 16 bytes each, 16 bytes apart, are served in four quarters."""
    loads = "".join(f"ld.shared.u32 %r{5 + i}, [%r30+{4 * i}];" for i in range(4))
    module = ".shared .align 16 .b8 tile[512];"
    body = f"mov.u32 %r30, tile; shl.b32 %r31, %r1, 4; add.u32 %r30, %r30, %r31; {loads} ret;"
    kernel = compile_ptx(START + body, module=module)
    found = timed(kernel)
    by_name = {register.name: register.index for register in kernel.registers}
    assert found.pipeline[8:12] == (Pipeline.SHARED, *[Pipeline.NONE] * 3)
    assert numbers(found.writes[8]) == {by_name[f"%r{5 + i}"] for i in range(4)}
    assert [numbers(row) for row in found.writes[9:12]] == [set()] * 3
    assert found.levels.bytes_per_lane[8:12].tolist() == [16, 0, 0, 0]
    assert found.wavefronts[8:12].tolist() == [4, 1, 1, 1]


def wavefronts_of(found: TimedKernel, pipeline: Pipeline) -> list[float]:
    chosen = [pc for pc, item in enumerate(found.pipeline) if item is pipeline]
    return [float(item) for item in found.wavefronts[np.isin(found.paths.pc, chosen)]]


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 6, 8, 16, 31, 32])
def test_bank_conflicts_follow_the_stride(compile_ptx: Compile, stride: int) -> None:
    """gcd(stride, 32) lanes share a bank; all of them one word when the stride is 0."""
    body = f"""
        mov.u32 %r5, tile; mul.lo.u32 %r6, %r1, {4 * stride}; add.u32 %r5, %r5, %r6;
        ld.shared.u32 %r7, [%r5]; ret;
    """
    found = timed(compile_ptx(START + body, module=".shared .align 4 .b8 tile[4096];"))
    expected = math.gcd(stride, 32) if stride else 1
    assert wavefronts_of(found, Pipeline.SHARED) == [expected]
    assert found.wavefronts.sum() == expected + len(found.wavefronts) - 1


@pytest.mark.parametrize("words", [1, 2, 8, 32])
def test_constants_are_served_word_by_word(compile_ptx: Compile, words: int) -> None:
    body = f"""
        mov.u32 %r5, table; and.b32 %r6, %r1, {words - 1}; shl.b32 %r6, %r6, 2;
        add.u32 %r5, %r5, %r6; ld.const.u32 %r7, [%r5]; ret;
    """
    found = timed(compile_ptx(START + body, module=MEMORY))
    assert wavefronts_of(found, Pipeline.CONSTANT) == [words]


def global_passes(compile_ptx: Compile, stride: int, kind: str, device: str) -> float:
    size = 8 if kind == "f64" else 4
    register = "%fd1" if kind == "f64" else "%f1"
    body = f"""
        mul.wide.u32 %rd2, %r1, {stride * size}; add.u64 %rd1, %rd1, %rd2;
        ld.global.{kind} {register}, [%rd1]; ret;
    """
    (passes,) = wavefronts_of(timed(compile_ptx(START + body), device), Pipeline.GLOBAL)
    return passes


@pytest.mark.parametrize(
    ("stride", "kind", "passes"),
    [
        (0, "f32", 1), (1, "f32", 1), (2, "f32", 2), (4, "f32", 4), (8, "f32", 8),
        (16, "f32", 16), (32, "f32", 32), (31, "f32", 8), (64, "f32", 32),
        (0, "f64", 2), (1, "f64", 2), (2, "f64", 4), (4, "f64", 8), (16, "f64", 32),
    ],
)  # fmt: skip
def test_l1_passes_are_those_measured_on_an_a100(
    compile_ptx: Compile, stride: int, kind: str, passes: int
) -> None:
    """te42kyfo/gpu-benches, gpu-strides: conflicts of the data banks, doubles in two halves.

    31 lines that follow each other take 8 passes of the four tag banks (8.5 measured).
    """
    assert global_passes(compile_ptx, stride, kind, "a100-80gb") == passes


@pytest.mark.parametrize(("lines_apart", "passes"), [(1, 8), (2, 8), (4, 8), (8, 8)])
def test_tags_of_powers_of_two_spread_over_their_banks(
    compile_ptx: Compile, lines_apart: int, passes: int
) -> None:
    """Each lane has a line of its own and one word more, so that data conflict with nothing."""
    body = f"""
        mul.wide.u32 %rd2, %r1, {128 * lines_apart + 4}; add.u64 %rd1, %rd1, %rd2;
        ld.global.f32 %f1, [%rd1]; ret;
    """
    found = timed(compile_ptx(START + body), "a100-80gb")
    (measured,) = wavefronts_of(found, Pipeline.GLOBAL)
    assert measured == passes


@pytest.mark.parametrize(("stride", "lines"), [(0, 1), (1, 1), (2, 2), (8, 8), (32, 32)])
def test_older_l1s_serve_a_line_a_pass(compile_ptx: Compile, stride: int, lines: int) -> None:
    assert global_passes(compile_ptx, stride, "f32", "gtx-480") == lines


def test_streams_come_from_dram_and_second_looks_from_caches(compile_ptx: Compile) -> None:
    body = """
        mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;
        ld.global.ca.u32 %r5, [%rd1]; ld.global.ca.u32 %r6, [%rd1]; ld.global.cg.u32 %r7, [%rd1];
        st.global.u32 [%rd1], %r7; ret;
    """
    kernel = compile_ptx(START + body)
    found = timed(kernel, elements=1 << 18, grid=1 << 10, threads=256)
    pcs = [i.pc for i in kernel.instructions if i.mnemonic.startswith(("ld.global", "st.global"))]
    levels = found.levels
    assert levels.sectors[pcs].tolist() == [4, 4, 4, 4]
    assert levels.l1_hits[pcs].tolist() == [0, 1, 0, 0]
    assert levels.l2_hits[pcs[0]] == 0
    assert levels.l2_hits[pcs[2]] == 1
    assert levels.bytes_per_lane[pcs].tolist() == [4, 4, 4, 4]
    assert found.thread_blocks == 1 << 10
    assert found.path_share == pytest.approx(1.0)


@pytest.mark.parametrize("device", ["rx-7900-xtx", "mi300x"])
def test_what_l1_fetches_beside_a_sector_passes_l2(compile_ptx: Compile, device: str) -> None:
    """Thread blocks on two SMs read the first 4 bytes of 128 each.

    L1 asks L2 for two sectors of 64 bytes, and every other request finds them there.
    """
    body = """
        mul.wide.u32 %rd2, %r1, 128; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r5, [%rd1]; ret;
    """
    kernel = compile_ptx(START + body)
    found = timed(kernel, device, grid=2, threads=64)
    (pc,) = (i.pc for i in kernel.instructions if i.mnemonic.startswith("ld.global"))
    assert found.levels.sectors[pc] == 2 * found.warp_width
    assert (found.levels.l1_hits[pc], found.levels.l2_hits[pc]) == (0, 0.5)


@pytest.mark.parametrize("device", ["a100-80gb", "mi210", "mi300x"])
def test_a_transaction_may_take_several_written_sectors(compile_ptx: Compile, device: str) -> None:
    """Two thread blocks write the same lines: half of what they ask of L2 goes on to DRAM."""
    body = """
        mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1; ret;
    """
    kernel = compile_ptx(START + body)
    out = np.zeros(1 << 16, np.uint32)
    width = load_device(device).architecture.warp_width
    trace = RunnableKernel(kernel).run(
        grid=2, block=256, args=[out], warp_width=width, record_paths=True
    )
    memory = simulate_memory(trace.data, load_device(device), 1)
    evicted = WriteBacks(memory.traffic.dram_write_transactions)
    written = replace(memory, traffic=replace(memory.traffic, writes=evicted))
    found = timed_kernel(trace.data, load_device(device), written)
    (pc,) = (i.pc for i in kernel.instructions if i.mnemonic.startswith("st.global"))
    assert found.levels.l2_hits[pc] == 0.5


def test_the_share_tells_how_far_a_recording_came(compile_ptx: Compile) -> None:
    """Thread block 0 runs a loop of 96 instructions more than the others; all four are recorded."""
    body = """
        mov.u32 %r5, 32; setp.ne.u32 %p1, %r2, 0; @%p1 bra END;
        LOOP: sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra LOOP; END: ret;
    """
    found = timed(compile_ptx(START + body), grid=4)
    assert found.path_share == pytest.approx(1.0)
    assert len(found.paths.pc) == 4 * 9 + 96


def test_a_trace_without_paths_says_why(compile_ptx: Compile) -> None:
    kernel, out = compile_ptx(START + "ret;"), np.zeros(32, np.uint32)
    trace = RunnableKernel(kernel).run(grid=1, block=32, args=[out], record_paths=False)
    device = load_device("a100-80gb")
    with pytest.raises(TraceFormatError, match="no paths of warps: they were not recorded"):
        timed_kernel(trace.data, device, simulate_memory(trace.data, device, 1))
    assert trace.profile(device).derived(timed_warps) is None


def test_joined_warps_have_no_paths(compile_ptx: Compile) -> None:
    kernel, out = compile_ptx(START + "ret;"), np.zeros(32, np.uint32)
    trace = RunnableKernel(kernel).run(grid=1, block=64, args=[out], record_paths=True)
    assert isinstance(trace, KernelTrace)
    assert trace.data.paths is not None
    profile = trace.profile("mi210")
    assert profile.derived(timed_warps) is None
    assert "warps of 32 threads" in profile.not_timed


def test_profiles_compare_and_print_without_their_paths(compile_ptx: Compile) -> None:
    kernel, out = compile_ptx(START + "ret;"), np.zeros(32, np.uint32)
    plain, with_paths = (
        RunnableKernel(kernel)
        .run(grid=1, block=32, args=[out], record_paths=record)
        .profile("a100-80gb")
        for record in (False, True)
    )
    assert with_paths.derived(timed_warps) is not None
    assert plain == with_paths
    assert "paths" not in repr(with_paths)


def test_atomics_that_find_what_they_read_still_write_to_dram() -> None:
    """A hundred sectors hit L2, and half of them are written back."""
    zeros, hundred = np.zeros(1, np.int64), np.full(1, 100, np.int64)
    empty = dict.fromkeys(Counters._fields, zeros)
    counts = Counters(**empty | {"l2_reads": hundred, "l2_read_hits": hundred})
    assert l2_waits(counts, np.array([0.5])).tolist() == [0.5]
    missing = counts._replace(l2_read_hits=np.full(1, 80, np.int64))
    assert l2_waits(missing, np.array([0.5])).tolist() == [0.2]
