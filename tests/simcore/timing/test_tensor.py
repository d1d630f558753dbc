"""Tensor units in the timing simulator, against closed forms."""

from __future__ import annotations

import math

import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.tensor_cycles import tensor_cycles
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.trace import InstructionRow

WITHIN = 0.05
VOLTA = ("v100-sxm2", "m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 4 * 8 * 8 * 4)
AMPERE = ("a100-80gb", "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 16 * 8 * 16)
ADA = ("rtx-4090", "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 16 * 8 * 16)
HOPPER = ("h100-sxm", "m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 16 * 8 * 32)
TURING = ("quadro-rtx-4000", "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 16 * 8 * 8)
CASES = [VOLTA, TURING, AMPERE, ADA, HOPPER]
on_each = pytest.mark.parametrize(
    ("name", "form", "sums", "left", "right", "multiply_adds"), CASES, ids=[c[0] for c in CASES]
)
TYPES = {"f32.f16": "fp16", "f16.f16": "fp16_fp16", "f32.bf16": "bf16", "s32.s8": "int8"}
TRIPS, UNROLLED = 64, 8


def source(form: str, sums: int, left: int, right: int, chains: int) -> str:
    """A loop of `UNROLLED` products, which go round `chains` accumulators."""
    kind = "f32" if ".f32." in form else "b32"
    registers = [
        f".reg .{kind} %d<{chains * sums}>; .reg .b32 %a<{left}>; .reg .b32 %b<{right}>;",
        ".reg .b32 %i; .reg .pred %p;",
        *(f"mov.b32 %a{n}, 0;" for n in range(left)),
        *(f"mov.b32 %b{n}, 0;" for n in range(right)),
        *(
            f"mov.{kind} %d{n}, {'0f00000000' if kind == 'f32' else 0};"
            for n in range(chains * sums)
        ),
        "mov.b32 %i, 0;\nL:",
    ]
    body = []
    for number in range(UNROLLED):
        first = number % chains * sums
        d = ", ".join(f"%d{first + n}" for n in range(sums))
        a = ", ".join(f"%a{n}" for n in range(left))
        b = ", ".join(f"%b{n}" for n in range(right))
        body.append(f"mma.sync.aligned.{form} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};")
    end = f"add.s32 %i, %i, 1; setp.lt.s32 %p, %i, {TRIPS}; @%p bra L; ret;"
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
    return head + "\n".join((*registers, *body, end)) + "\n}"


def traced(device: Device, text: str, warps: int) -> KernelProfile:
    kernel = kc.load_ptx(text)["k"]
    return kernel.run(
        grid=1, block=32 * warps, args=[], devices=[device], code="as-written"
    ).profile(device)


def timed(device: Device, text: str, warps: int) -> TimedKernel:
    found = traced(device, text, warps).derived(timed_warps)
    assert found is not None
    return found


def run(device: Device, text: str, warps: int, *without: Component) -> LaunchTiming:
    return launch_timing(timed(device, text, warps), device, frozenset(without), is_exact=True)


def facts(device: Device) -> TensorFacts:
    assert device.tensor is not None
    return device.tensor


def rates(device: Device, form: str) -> tuple[float, float]:
    """Multiply-adds of one scheduler's unit a cycle: in a row, and of one product alone."""
    name = next(type_ for ending, type_ in TYPES.items() if f".col.{ending}" in form)
    rate, flow = facts(device).multiply_adds_per_cycle(name), facts(device).flow_per_cycle(name)
    assert rate is not None
    assert flow is not None
    schedulers = device.sm.warp_schedulers
    return rate * facts(device).warp_efficiency / schedulers, flow / schedulers


@on_each
def test_a_dependent_chain_takes_its_latency(
    name: str, form: str, sums: int, left: int, right: int, multiply_adds: int
) -> None:
    device = load_device(name)
    rate, flow = rates(device, form)
    timing = run(device, source(form, sums, left, right, 1), 1)
    each = max(facts(device).latency_cycles + multiply_adds / flow, multiply_adds / rate)
    assert timing.cycles == pytest.approx(TRIPS * UNROLLED * each, rel=WITHIN)


@on_each
def test_independent_products_take_the_unit(
    name: str, form: str, sums: int, left: int, right: int, multiply_adds: int
) -> None:
    device = load_device(name)
    rate, _ = rates(device, form)
    warps = 4 * device.sm.warp_schedulers
    timing = run(device, source(form, sums, left, right, UNROLLED), warps)
    products = 4 * TRIPS * UNROLLED
    assert timing.cycles == pytest.approx(products * multiply_adds / rate, rel=WITHIN)
    assert timing.stalls[StallReason.TENSOR_PIPE] == max(timing.stalls.values())
    per_sm = warps * TRIPS * UNROLLED * multiply_adds / timing.cycles
    assert per_sm == pytest.approx(rate * device.sm.warp_schedulers, rel=WITHIN)


def test_a_warp_waits_for_its_units_under_the_vendors_name() -> None:
    device = load_device("a100-80gb")
    timing = run(device, source(*AMPERE[1:5], UNROLLED), 8)
    reason = max(timing.warp_stalls, key=lambda item: timing.warp_stalls[item])
    assert (reason.ncu, reason.detail) == ("math_pipe_throttle", "tensor")


def test_without_tensor_units_issue_slots_are_left() -> None:
    device = load_device("a100-80gb")
    text = source(*AMPERE[1:5], UNROLLED)
    timing = run(device, text, 16, Component.TENSOR, Component.ARITHMETIC_LATENCY)
    assert timing.cycles < 1.6 * 4 * TRIPS * (UNROLLED + 3)
    assert timing.stalls[StallReason.TENSOR_PIPE] == 0


def test_sums_of_fp32_halve_geforce_but_not_the_latency_of_one() -> None:
    """An RTX 3090 has half the rate of an A40 for sums of fp32, and the same units."""
    geforce, board = load_device("rtx-3090"), load_device("a40")
    text = source(*AMPERE[1:5], UNROLLED)
    assert run(geforce, text, 16).cycles == pytest.approx(2 * run(board, text, 16).cycles, rel=0.05)


def row(opcode: str, type_: str, operations: int) -> InstructionRow:
    return InstructionRow(
        0, opcode, opcode, "tensor", 0, "warp", 0, tensor_type=type_, tensor_operations=operations
    )


def test_wgmma_reaches_the_whole_rate_of_hopper() -> None:
    """Four warps, each a quarter of the rows, take m64n256k16 / 2048 cycles of their units."""
    device = load_device("h100-sxm")
    operations = 2 * 16 * 256 * 16 // 32
    cycles, latency = tensor_cycles([row("wgmma.m64n256k16", "fp16", operations)], device)
    assert 32 * cycles[0] == pytest.approx(64 * 256 * 16 / 2048)
    assert latency[0] == pytest.approx(20 + 128)  # 24 of a dependent mma.m16n8k16, less its 4
    warp, _ = tensor_cycles([row("mma.m16n8k16", "fp16", 128)], device)
    assert 32 * warp[0] == pytest.approx(16 * 8 * 16 / (0.629 * 512))


def test_sparse_products_count_whole_and_take_half() -> None:
    device = load_device("a100-80gb")
    dense, _ = tensor_cycles([row("mma.m16n8k32", "fp16", 256)], device)
    sparse, _ = tensor_cycles([row("mma.sp.m16n8k32", "fp16 sparse", 256)], device)
    assert sparse[0] == pytest.approx(dense[0] / 2)


def test_devices_without_units_have_a_profile_and_no_timing() -> None:
    found = traced(load_device("gtx-1070"), source(*AMPERE[1:5], 1), 1)
    assert found.derived(timed_warps) is None
    assert "gtx-1070 has no tensor units for its fp16 operations" in found.not_timed
    assert found.instructions.tensor_operations == {"fp16": 2.0 * 16 * 8 * 16 * TRIPS * UNROLLED}
    assert found.instructions.fp32 == found.instructions.fma32 == found.instructions.fp64 == 0.0


def test_the_pipeline_of_every_product_is_the_tensor_unit() -> None:
    kernel = timed(load_device("a100-80gb"), source(*AMPERE[1:5], 2), 1)
    assert kernel.pipeline.count(Pipeline.TENSOR) == UNROLLED
    assert kernel.tensor_latency is not None
    assert math.isclose(kernel.tensor_latency.max(), 16.7 + 8)
