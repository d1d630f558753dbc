"""The Python calls of the README, and the counts that the shipped kernels must have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, LaunchError, UnsupportedInstruction
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.models import MODELS
from kernelcast.simcore.profile.timed import timed_warps

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def trace() -> kc.KernelTrace:
    module = kc.load(EXAMPLES / "sgemm" / "sgemm.ptx")
    a, b = np.eye(64, dtype=np.float32), np.ones((64, 64), np.float32)
    return module["sgemm"].run(
        grid=(2, 2),
        block=(32, 32),
        args=[a, b, np.zeros_like(a), np.uint32(64)],
        record_paths=True,
    )


def test_arrays_are_read_and_written() -> None:
    random = np.random.default_rng(3)
    a, b = (random.random((64, 64), np.float32) for _ in range(2))
    c = np.zeros_like(a)
    kernel = kc.load(EXAMPLES / "sgemm" / "sgemm.ptx")["sgemm"]
    kernel.run(grid=(2, 2), block=(32, 32), args=[a, b, c, 64])
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_module_is_a_mapping() -> None:
    module = kc.load(EXAMPLES / "sgemm" / "sgemm.ptx")
    assert sorted(module) == ["sgemm", "sgemm_16x16"]
    assert len(module) == 2
    assert "sgemm" in module
    assert "sgemm_8x8" not in module
    assert module["sgemm"].name == "sgemm"
    with pytest.raises(LaunchError, match="did you mean sgemm"):
        module["sgem"]
    with pytest.raises(LaunchError, match="2 kernels, name one"):
        module.only_kernel()


def test_what_a_session_shows_is_short(trace: kc.KernelTrace) -> None:
    module = kc.load(EXAMPLES / "sgemm" / "sgemm.ptx")
    assert repr(module).endswith("sgemm.ptx: sgemm, sgemm_16x16>")
    assert repr(module["sgemm"]) == "<kernel sgemm>"
    assert repr(trace) == f"<trace of sgemm, {trace.data.engine} engine>"


def test_a_profile_keeps_a_device_that_no_name_finds(trace: kc.KernelTrace, tmp_path: Path) -> None:
    known = Path(kc.__file__).parents[1] / "simcore" / "devices" / "gtx-480.toml"
    path = tmp_path / "my-gpu.toml"
    path.write_text(known.read_text())
    profile = trace.profile(kc.device(path))
    expected = kc.estimate(trace.profile("gtx-480")).time_s
    assert kc.estimate(profile).time_s == expected
    on_other = kc.estimate(profile, device="gtx-960").time_s
    corrected = kc.estimate(profile, device="gtx-960", reference_time_s=2 * expected)
    assert corrected.time_s == pytest.approx(2 * on_other)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grid": 4.0}, "grid sizes must be positive integers"),
        ({"grid": None}, "give grid and block, or global_size and local_size"),
        ({"args": 5}, "args must be a list of arguments"),
        ({"args": [np.array([None]), 0, 0, 0]}, "array of Python objects"),
    ],
)
def test_launch_of_wrong_types(changed: dict[str, Any], message: str) -> None:
    kernel = kc.load(EXAMPLES / "sgemm" / "sgemm.ptx")["sgemm"]
    with pytest.raises(LaunchError, match=message):
        kernel.run(**{"grid": 1, "block": 32, "args": [], **changed})


def test_an_unsupported_kernel_leaves_the_others_alone(tmp_path: Path) -> None:
    header = ".version 8.0\n.target sm_75\n.address_size 64\n"
    bad = ".visible .entry bad() { bad.f32 %f1; ret; }\n"
    good = ".visible .entry good() { ret; }\n"
    (tmp_path / "two.ptx").write_text(header + bad + good)
    module = kc.load(tmp_path / "two.ptx")
    assert module["good"].run(grid=1, block=1, args=[]).data.thread_blocks == 1
    with pytest.raises(UnsupportedInstruction, match=r"two\.ptx:4"):
        module["bad"]


def test_profile_by_name_or_device(trace: kc.KernelTrace) -> None:
    assert trace.profile("gtx-480") == trace.profile(kc.device("gtx-480"))
    assert trace.profile("gtx-480").device == "gtx-480"
    assert trace.repeated(4).profile("gtx-480").repeats == 4


def test_estimate_for_the_profiles_own_device(trace: kc.KernelTrace) -> None:
    found = kc.estimate(trace.profile("gtx-480"))
    assert (found.device, found.kernel) == ("gtx-480", "sgemm")
    assert found.time_s == found.terms.seconds > 0
    assert kc.estimate(trace.repeated(4).profile("gtx-480")).time_s == pytest.approx(
        4 * found.time_s
    )


@pytest.mark.parametrize("model", list(MODELS))
def test_print_explains(trace: kc.KernelTrace, model: str) -> None:
    found = kc.estimate(trace.profile("gtx-480"), model=model)
    text = str(found)
    assert text.startswith("sgemm on gtx-480: ")
    advice = map(str, found.advice)
    for part in (model, found.bottleneck, *found.causes, *advice, *found.assumptions):
        assert part in text
    for parameter in found.parameters:
        assert f"{parameter.symbol} = " in text


def test_measured_on_one_device_estimated_for_another(trace: kc.KernelTrace) -> None:
    """E_util = measured / predicted on the profile's device scales the other's time (eq 5.13)."""
    profile = trace.profile("gtx-480")
    own = kc.estimate(profile).time_s
    other = kc.estimate(profile, device="gtx-960").time_s
    corrected = kc.estimate(profile, device=kc.device("gtx-960"), reference_time_s=1.7 * own)
    assert corrected.time_s == pytest.approx(1.7 * other)
    assert kc.reference_utilization(profile, 1.7 * own) == pytest.approx(1.7)


def test_work_type_by_name_or_member(trace: kc.KernelTrace) -> None:
    profile = trace.profile("gtx-480")
    model = "quantitative-roofline"
    by_name = kc.estimate(profile, model, work_type="int")
    assert by_name == kc.estimate(profile, model, work_type=kc.WorkType.INT)
    assert by_name["K_type"] == "int"


def test_contradictions_are_refused(trace: kc.KernelTrace) -> None:
    profile = trace.profile("gtx-480")
    with pytest.raises(KernelcastError, match="unknown type of work 'fp23'"):
        kc.estimate(profile, work_type="fp23")
    with pytest.raises(KernelcastError, match="either a reference time or"):
        kc.estimate(profile, reference_time_s=1.0, utilization=1.0)


def _native_counts(example: str, size: str, opcode: str) -> int:
    trace = kc.load_workload(EXAMPLES / example).run(size).data
    rows = instruction_mix(trace, Counting.MERGED).rows
    return sum(row.thread for row in rows if row.opcode.startswith(opcode))


def _native_accesses(example: str, size: str) -> int:
    trace = kc.load_workload(EXAMPLES / example).run(size).data
    rows = instruction_mix(trace, Counting.MERGED).rows
    return sum(row.thread for row in rows if row.unit == "load/store")


def test_sor_counts_have_their_closed_form() -> None:
    """n = 256: 64 x 4 threads, 129 columns in 3 thread blocks of width, 128 red elements a row."""
    n, columns, wide = 256, 129, 3
    updates = n * n // 2
    halo = 4 * columns * (n // 4) + 2 * wide * n
    assert _native_counts("sor/sor.toml", "small", "fma.rn.f64") == updates
    assert _native_accesses("sor/sor.toml", "small") == 2 * columns * n + halo + 6 * updates


def test_lmsor_counts_have_their_closed_form() -> None:
    """12 accesses an element, and two more for each thread block's row; 5 multiply-adds."""
    n = 256
    updates = n * n // 2
    assert _native_counts("lmsor/lmsor.toml", "small", "fma.rn.f64") == 5 * updates
    assert _native_accesses("lmsor/lmsor.toml", "small") == 12 * updates + 2 * n * (n // 2 // 64)


@pytest.mark.parametrize(("tile", "accesses"), [(32, 2 + 2 + 32 + 8), (16, 2 + 2 + 16 + 4)])
def test_sgemm_counts_have_their_closed_form(tile: int, accesses: int) -> None:
    """A tile takes two loads and stores to fill, a column of B, a row of A four at a time."""
    rows, n = 96, 64
    example = f"sgemm/sgemm{tile}.toml"
    assert _native_counts(example, "small", "fma.rn.f32") == rows * n * n
    assert _native_accesses(example, "small") == rows * n * (n // tile * accesses + 1)


def test_the_default_model_follows_from_what_the_device_file_has(trace: kc.KernelTrace) -> None:
    profile = trace.profile("gtx-480")
    assert kc.estimate(profile).model == "interval"
    untimed = replace(kc.device("gtx-480"), timing=None)
    found = kc.estimate(profile, device=untimed)
    assert found.model == "quantitative-roofline"
    assert found.assumptions[0].startswith("model quantitative-roofline instead of interval")
    rates = {"work_item_dram_read_bandwidth_bytes_per_s": 1e10}
    processor = kc.estimate(profile, device=replace(untimed, ceilings=rates))
    assert processor.model == "roofline"
    assert processor.assumptions[0].endswith("has no [timing], and is a processor")
    bare = kc.estimate(profile, device=replace(untimed, measured=None))
    assert bare.model == "roofline"
    assert "no [timing] and [measured]" in bare.assumptions[0]


def test_paths_are_no_hindrance_to_devices_without_timing_facts(trace: kc.KernelTrace) -> None:
    profile = trace.profile(replace(kc.device("gtx-480"), timing=None))
    assert profile.derived(timed_warps) is None
    assert kc.estimate(profile, model="quantitative-roofline").time_s > 0
