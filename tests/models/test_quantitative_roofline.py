"""The quantitative roofline's estimate: tree, bounds, explanation, and where it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.models import ModelOptions, utilization_factor
from kernelcast.models.estimate import Estimate, Term
from kernelcast.models.quantitative_roofline.equations import (
    KernelParameters,
    instruction_weights,
    kernel_parameters,
    predict,
)
from kernelcast.models.quantitative_roofline.model import quantitative_roofline
from kernelcast.simcore.device.device import Device, MeasuredThroughput, Provenance, Source
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    WorkType,
)

MeasuredDevice = Callable[[str], Device]
ThesisProfile = Callable[[str], KernelProfile]

# fmt: off
SYMBOLS = [
    "K_type", "W_comp", "W_traf", "E_mix", "D_ops", "D_ldst", "D_other", "W_op", "W_ldst",
    "W_other", "C_op", "C_ldst", "C_other", "E_instr", "T_op", "T_op_adj", "B_mem", "O_krn",
    "O_dev", "bound", "GFLOPS", "time",
]
# fmt: on
ROUND = MeasuredThroughput(
    fp32_ops_per_s=8e12,
    fp64_ops_per_s=4e12,
    int_ops_per_s=2e12,
    add_ops_per_s=2e12,
    load_store_ops_per_s=1e12,
    dram_bandwidth_bytes_per_s=1e11,
)
COUNTS = InstructionCounts(
    fma32=40.0,
    fma64=0.0,
    fp32=160.0,
    fp64=0.0,
    integer=96.0,
    load_store=32.0,
    warp_instructions=10.0,
)
PROFILE = KernelProfile(
    kernel="k",
    device="gtx-480",
    origin="by hand",
    instructions=COUNTS,
    traffic=MemoryTraffic(dram_read_transactions=3.0, dram_write_transactions=1.0),
)

shares = st.floats(0.01, 1.0)
rates = st.floats(1e9, 1e14)


def run(profile: KernelProfile, device: Device, options: ModelOptions | None = None) -> Estimate:
    return quantitative_roofline(profile, device, options or ModelOptions())


def leaves(term: Term) -> list[Term]:
    return [leaf for part in term.parts for leaf in leaves(part)] or [term]


def test_equations_by_hand(measured_device: MeasuredDevice) -> None:
    """160 + 40 operations in 320 thread slots on round rates, worked on paper."""
    device = replace(measured_device("GTX-480"), measured=ROUND)
    found = run(PROFILE, device)
    assert [parameter.symbol for parameter in found.parameters] == SYMBOLS
    expected = {
        "W_comp": 200.0,
        "W_traf": 128.0,
        "E_mix": 200 / 320,
        "D_ops": 0.5,
        "D_ldst": 0.1,
        "D_other": 0.4,
        "W_op": 1.0,
        "W_ldst": 4.0,
        "W_other": 2.0,
        "C_op": 0.5,
        "C_ldst": 0.4,
        "C_other": 0.8,
        "E_instr": 0.5 / 1.7,
        "T_op_adj": 200 / 320 * 0.5 / 1.7 * 8e12,
        "O_krn": 200 / 128,
        "time": 128 / 1e11,
    }
    for symbol, value in expected.items():
        assert found[symbol] == pytest.approx(value, rel=1e-12), symbol
    assert (found["K_type"], found["bound"]) == ("fp32", "memory")
    assert found["GFLOPS"] == pytest.approx(200 / 1.28e-9 / 1e9)


def test_warp_width_of_the_profile_counts_the_thread_slots() -> None:
    narrow = kernel_parameters(PROFILE)
    wide = kernel_parameters(replace(PROFILE, warp_width=64))
    assert wide.d_ops == narrow.d_ops / 2
    assert wide.e_mix == narrow.e_mix


def test_repeats_scale_work_and_time_but_no_density(measured_device: MeasuredDevice) -> None:
    device = measured_device("GTX-660")
    once, four = run(PROFILE, device), run(replace(PROFILE, repeats=4), device)
    assert four.time_s == pytest.approx(4 * once.time_s)
    assert four["W_comp"] == pytest.approx(800)
    for symbol in ("D_ops", "E_mix", "O_krn", "T_op_adj", "GFLOPS"):
        assert four[symbol] == pytest.approx(once[symbol])


@pytest.mark.parametrize("case", ["sor", "sgemm", "lmsor"])
@pytest.mark.parametrize("gpu", ["GTX-480", "GTX-660", "R9 Nano"])
def test_terms_add_up_to_the_closed_form(
    case: str, gpu: str, thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    found = run(thesis_profile(case), measured_device(gpu))
    memory, compute = found.terms.parts
    assert isinstance(found["W_traf"], float)
    assert isinstance(found["B_mem"], float)
    assert isinstance(found["W_comp"], float)
    assert isinstance(found["T_op_adj"], float)
    assert memory.seconds == pytest.approx(found["W_traf"] / found["B_mem"], rel=1e-12)
    assert compute.seconds == pytest.approx(found["W_comp"] / found["T_op_adj"], rel=1e-12)
    assert found.time_s == pytest.approx(max(memory.seconds, compute.seconds), rel=1e-12)
    assert all(leaf.seconds >= 0 for leaf in leaves(found.terms))


def test_sgemm_on_the_gtx_660_is_limited_by_its_shared_loads(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    """Section 4.4: C_ldst 2.79 against C_op 0.35 and C_other 0.25."""
    found = run(thesis_profile("sgemm"), measured_device("GTX-660"))
    assert found.bottleneck == "compute: load/store instructions"
    ldst = next(leaf for leaf in leaves(found.terms) if leaf.name == "load/store instructions")
    assert ldst.seconds / found.time_s == pytest.approx(2.79 / (0.35 + 2.79 + 0.25), abs=0.005)
    assert any("48.8% of the instructions" in cause for cause in found.causes)
    assert any("128 bits" in advice.what for advice in found.advice)


def test_sor_is_memory_bound_on_the_gtx_960_and_slow_fp64_on_the_gtx_660(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    on_960 = run(thesis_profile("sor"), measured_device("GTX-960"))
    assert on_960.bottleneck == "memory: DRAM bandwidth"
    assert "3.335 GB" in on_960.causes[0]
    on_660 = run(thesis_profile("sor"), measured_device("GTX-660"))
    assert on_660.bottleneck.startswith("compute: ")
    assert any("1/21.6 of its single-precision rate" in cause for cause in on_660.causes)


def test_overfetch_and_balance_are_named(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    sor = thesis_profile("sor")
    traffic = replace(
        sor.traffic,
        requested_load_bytes=sor.traffic.dram_bytes / 4,
        requested_store_bytes=sor.traffic.dram_bytes / 4,
    )
    found = run(replace(sor, traffic=traffic), measured_device("GTX-480"))
    assert any("2.00 times the bytes" in cause for cause in found.causes)
    assert any("balanced" in cause for cause in found.causes)  # O_krn 0.30, O_dev 0.31


@given(
    d_ops=shares,
    d_ldst=shares,
    d_other=shares,
    e_mix=st.floats(0.5, 1.0),
    o_krn=st.floats(1e-3, 1e3),
    t=st.tuples(rates, rates, rates, rates, rates, rates),
    k_type=st.sampled_from((WorkType.FP32, WorkType.FP64, WorkType.INT)),
)
def test_equals_the_thesis_written_in_ten_lines(
    d_ops: float,
    d_ldst: float,
    d_other: float,
    e_mix: float,
    o_krn: float,
    t: tuple[float, float, float, float, float, float],
    k_type: WorkType,
) -> None:
    measured = MeasuredThroughput(*t)
    found = predict(
        KernelParameters(k_type, 1e9 * o_krn, 1e9, e_mix, d_ops, d_ldst, d_other), measured
    )
    t_sp, t_dp, t_int, t_add, t_ldst, b_mem = t
    t_op = {WorkType.FP32: t_sp, WorkType.FP64: t_dp, WorkType.INT: t_int}[k_type]
    c_op = d_ops * t_sp / t_op
    e_instr = c_op / (c_op + d_ldst * 0.5 * t_sp / t_ldst + d_other * 0.5 * t_sp / t_add)
    adjusted = e_mix * e_instr * t_op
    predicted = adjusted if o_krn > adjusted / b_mem else o_krn * b_mem
    assert found.ops_per_s == pytest.approx(predicted, rel=1e-9)
    assert found.time_s == pytest.approx(1e9 * o_krn / predicted, rel=1e-9)
    assert instruction_weights(measured, WorkType.FP32).w_op == 1


def test_equality_is_memory_bound() -> None:
    kernel = KernelParameters(WorkType.FP32, 80e12, 1e12, 1.0, 1.0, 0.0, 0.0)
    found = predict(kernel, ROUND)
    assert found.o_dev == kernel.o_krn == 80
    assert found.is_memory_bound


@pytest.mark.parametrize(
    ("work_type", "operations", "e_mix"),
    [(None, 200.0, 0.625), (WorkType.INT, 96.0, 0.5), (WorkType.FP32, 200.0, 0.625)],
)
def test_work_type_can_be_overridden(
    work_type: WorkType | None, operations: float, e_mix: float, measured_device: MeasuredDevice
) -> None:
    found = run(PROFILE, measured_device("GTX-480"), ModelOptions(work_type=work_type))
    assert found["W_comp"] == operations
    assert found["E_mix"] == e_mix


def test_one_double_makes_the_kernel_fp64() -> None:
    """Section 4.2.2: fp64 when M_fp64 is not zero, else fp32, else int."""
    with_double = replace(PROFILE, instructions=replace(COUNTS, fp64=1.0))
    without_floats = replace(PROFILE, instructions=replace(COUNTS, fp32=0.0, fma32=0.0))
    assert kernel_parameters(with_double).k_type is WorkType.FP64
    assert kernel_parameters(without_floats).k_type is WorkType.INT


def test_kernel_without_traffic_is_compute_bound(measured_device: MeasuredDevice) -> None:
    found = run(replace(PROFILE, traffic=MemoryTraffic(0.0, 0.0)), measured_device("GTX-480"))
    assert found["bound"] == "compute"
    assert found["O_krn"] == "unbounded"
    assert found["W_traf"] == 0


def test_utilization_factor_scales_the_time(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    """Eq 5.13 with the GTX-480 of Table 5.14 as reference: 4.033 ms against 2.987 ms."""
    sgemm = thesis_profile("sgemm")
    factor = utilization_factor(2.987e-3, 4.033e-3)
    assert factor == pytest.approx(1.3502, abs=1e-4)
    plain = run(sgemm, measured_device("GTX-660"))
    adjusted = run(sgemm, measured_device("GTX-660"), ModelOptions(utilization=factor))
    assert adjusted.time_s == pytest.approx(factor * plain.time_s)
    assert adjusted["E_util"] == factor
    assert adjusted["T_op_adj"] == plain["T_op_adj"]
    assert "92 of 140" in adjusted.basis


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_utilization_needs_positive_times(seconds: float) -> None:
    with pytest.raises(KernelcastError, match="must be positive"):
        utilization_factor(seconds, 1.0)
    with pytest.raises(KernelcastError, match="must be positive"):
        utilization_factor(1.0, seconds)
    with pytest.raises(KernelcastError, match="must be positive"):
        ModelOptions(utilization=seconds)


def test_bounds_follow_the_published_errors(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    """An error of +25 % means measured = predicted / 1.25, of -50 % measured = 2 predicted."""
    found = run(thesis_profile("sor"), measured_device("GTX-480"))
    assert found.time_s / found.time_low_s - 1 == pytest.approx(0.25)
    assert found.time_s / found.time_high_s - 1 == pytest.approx(-0.5)
    assert "168" in found.basis


def test_measured_sor_and_lmsor_times_lie_within_the_bounds(
    thesis_profile: ThesisProfile,
    measured_device: MeasuredDevice,
    thesis_table: Callable[[str], list[dict[str, str]]],
) -> None:
    for case, table in (("sor", "table_5_9_sor_times"), ("lmsor", "table_5_12_lmsor_times")):
        for row in thesis_table(table):
            found = run(thesis_profile(case), measured_device(row["gpu"]))
            measured_s = float(row["measured_ms"]) / 1e3
            assert found.time_low_s < measured_s < found.time_high_s


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (LaunchShape((90, 1, 1), (64, 1, 1)), (True, True, True)),
        (LaunchShape((89, 1, 1), (64, 1, 1)), (True, False, True)),
        (LaunchShape((90, 1, 1), (63, 1, 1)), (False, True, True)),
        (None, (None, None, True)),
    ],
)
def test_validity_by_launch_shape(
    shape: LaunchShape | None,
    expected: tuple[bool | None, bool | None, bool],
    thesis_profile: ThesisProfile,
    measured_device: MeasuredDevice,
) -> None:
    found = run(replace(thesis_profile("sor"), launch=shape), measured_device("GTX-480"))
    validity = found.validity
    assert (
        validity.threads_enough,
        validity.thread_blocks_enough,
        validity.time_enough,
    ) == expected
    answers = {True: "yes", False: "NO", None: "not known"}
    for condition, passed in zip(("64 threads", "90 thread", "0.5 ms"), expected, strict=True):
        (line,) = (line for line in found.explanation if f"at least {condition}" in line)
        assert line.endswith(f": {answers[passed]}")
    assert found.is_valid == (False not in expected)
    assert any("outside the model's conditions" in text for text in found.assumptions) == (
        False in expected
    )


def test_time_must_reach_half_a_millisecond_per_launch(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    sgemm, device = thesis_profile("sgemm"), measured_device("R9 Nano")
    assert run(sgemm, device).validity.time_enough is True  # 0.73 ms
    four = replace(sgemm, repeats=4, instructions=_scaled(sgemm.instructions, 0.25))
    assert run(four, device).validity.time_enough is False  # 0.73 ms in four launches


def _scaled(counts: InstructionCounts, factor: float) -> InstructionCounts:
    return replace(
        counts,
        fma32=counts.fma32 * factor,
        fp32=counts.fp32 * factor,
        integer=counts.integer * factor,
        load_store=counts.load_store * factor,
        warp_instructions=counts.warp_instructions * factor,
    )


def test_assumptions_name_foreign_profiles_and_assumed_rates(
    measured_device: MeasuredDevice,
) -> None:
    device = measured_device("GTX-660")
    assumed = Provenance(Source.ASSUMED, "guess")
    device = replace(device, provenance={"measured.fp32_ops_per_s": assumed})
    texts = run(replace(PROFILE, assumptions=("registers assumed",)), device).assumptions
    assert any("as gtx-480 has them, not gtx-660" in text for text in texts)
    assert any("assumed, not measured" in text for text in texts)
    assert "registers assumed" in texts


@pytest.mark.parametrize(
    ("profile", "options", "message"),
    [
        (PROFILE, ModelOptions(work_type=WorkType.FP64), "executes no fp64 operations"),
        (
            replace(PROFILE, instructions=InstructionCounts(0, 0, 0, 0, 0, 0, 0)),
            ModelOptions(),
            "executes no int operations",
        ),
        (
            replace(PROFILE, instructions=replace(COUNTS, warp_instructions=5.0)),
            ModelOptions(),
            "than its 5 warp instructions have threads",
        ),
    ],
)
def test_refusals(
    profile: KernelProfile,
    options: ModelOptions,
    message: str,
    measured_device: MeasuredDevice,
) -> None:
    with pytest.raises(ModelNotApplicable, match=message) as raised:
        run(profile, measured_device("GTX-480"), options)
    assert "\n" not in str(raised.value)


def test_refuses_a_device_that_nobody_measured(measured_device: MeasuredDevice) -> None:
    device = replace(measured_device("GTX-480"), measured=None)
    with pytest.raises(ModelNotApplicable, match="gtx-480 has none"):
        run(PROFILE, device)
