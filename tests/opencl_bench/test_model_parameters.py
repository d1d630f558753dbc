"""Parameters of the published models from named findings, and what is missing for them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.opencl_bench.device_file.model_parameters import (
    global_bandwidth_parameters,
    luo_suda_parameters,
    mixed_roofline,
    thesis_parameters,
    zhang_owens_parameters,
)
from kernelcast.opencl_bench.fits.global_bandwidth import GlobalBandwidth
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit, measurement
from kernelcast.opencl_bench.memory.parallelism import usual_launch
from kernelcast.opencl_bench.parallel_degree import degree_curve_name, share_name
from kernelcast.opencl_bench.target import DeviceFacts

Floats = npt.NDArray[np.float64]
CLOCK = 1.242e9

K20C = {
    "fp32_multiply_add_throughput": 3115.24e9,
    "fp64_multiply_add_throughput": 1153.08e9,
    "int32_multiply_add_throughput": 584.26e9,
    "int32_add_throughput": 969.28e9,
    "local_load_store_throughput": 283.59e9,
}
"""Konstantinidis, Table 5.2."""


def value(name: str, amount: float) -> Finding:
    return measurement(name, [amount], Unit.OPERATIONS_PER_S, "given")


def curve(name: str, x: Floats, y: Floats) -> Curve:
    points = tuple(CurvePoint(float(a), float(b), 0.0) for a, b in zip(x, y, strict=True))
    return Curve(name, "x", Unit.COUNT, "y", Unit.RATIO, points, "closed form")


def named(*findings: Finding) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def thesis_findings() -> dict[str, Finding]:
    bandwidths = {"read": 160e9, "write": 150e9, "copy": 145.16e9}
    return named(
        *[value(name, amount) for name, amount in K20C.items()],
        *[value(f"global_{kind}_bandwidth", rate) for kind, rate in bandwidths.items()],
    )


def test_the_six_figures_of_the_thesis() -> None:
    found = thesis_parameters(thesis_findings())
    assert found.missing == ()
    assert found.values is not None
    assert found.values.fp64_ops_per_s == 1153.08e9
    assert found.values.add_ops_per_s == 969.28e9
    assert found.values.dram_bandwidth_bytes_per_s == pytest.approx(151.72e9)


def test_what_the_thesis_lacks_is_named() -> None:
    findings = thesis_findings()
    del findings["fp64_multiply_add_throughput"], findings["global_copy_bandwidth"]
    found = thesis_parameters(findings)
    assert found.values is None
    assert found.missing == ("fp64_multiply_add_throughput", "global_copy_bandwidth")


def zhang_owens_findings() -> dict[str, Finding]:
    """The GTX 285 at 6 and 32 warps (section 5.1), as operations and bytes per second."""
    warps = np.array([6.0, 32.0])
    return named(
        curve("fp32_multiply_add_throughput_over_warps", warps, np.array([8.39e9, 9.33e9]) * 64),
        curve("local_bandwidth_over_warps", warps, np.array([870e9, 1165e9])),
        value("fp32_multiply_add_throughput", 11.1e9 * 64),
        value("fp32_multiply_throughput", 13.9e9 * 32),
    )


def test_zhang_owens_curves_predict_the_third_point() -> None:
    found = zhang_owens_parameters(zhang_owens_findings(), warp_width=32)
    assert found.values is not None
    assert found.values.instructions.at(16.0) == pytest.approx(9.05e9, rel=0.03)
    assert found.values.shared.at(16.0) == pytest.approx(1112e9, rel=0.03)
    assert found.values.type_rates == pytest.approx({"I": 13.9e9, "II": 11.1e9})


def test_zhang_owens_lists_what_is_optional_and_needs_its_curves() -> None:
    findings = zhang_owens_findings()
    optional = zhang_owens_parameters(findings, warp_width=32).missing
    assert "fp32_native_rsqrt_throughput" in optional
    assert "read_bandwidth_over_work_groups" in optional
    del findings["local_bandwidth_over_warps"]
    without = zhang_owens_parameters(findings, warp_width=32)
    assert without.values is None
    assert without.missing[0] == "local_bandwidth_over_warps"


def gtx_285() -> DeviceFacts:
    return DeviceFacts(
        name="GTX 285",
        vendor="",
        platform="",
        driver="",
        is_cpu=False,
        compute_units=30,
        clock_hz=1.48e9,
        global_bytes=2**30,
        max_buffer_bytes=2**28,
        local_bytes=2**14,
        constant_bytes=2**16,
        cache_bytes=0,
        cache_line_bytes=0,
        max_work_group=512,
        preferred_work_group_multiple=32,
        features=frozenset(),
    )


def test_one_bandwidth_model_through_the_three_sweeps() -> None:
    """Ten clusters, as section 4.3 explains the period of Figure 3."""
    truth = GlobalBandwidth(10, 4e-7, 159e9, 4, 0.0)
    usual = usual_launch(gtx_285())
    counts, sizes, loads = np.arange(1.0, 61.0), np.arange(32.0, 513, 32), np.arange(1.0, 17.0)
    groups, group, each = usual.groups, usual.work_group, usual.loads
    sweeps = named(
        curve(
            "read_bandwidth_over_work_groups",
            counts,
            np.array([truth.bytes_per_s(int(count), group, each) for count in counts]),
        ),
        curve(
            "read_bandwidth_over_work_group_size",
            sizes,
            np.array([truth.bytes_per_s(groups, int(size), each) for size in sizes]),
        ),
        curve(
            "read_bandwidth_over_loads_per_item",
            loads,
            np.array([truth.bytes_per_s(groups, group, int(count)) for count in loads]),
        ),
    )
    found = global_bandwidth_parameters(sweeps, gtx_285()).values
    assert found is not None
    assert found.clusters == 10
    assert (found.latency_s, found.peak_bytes_per_s) == pytest.approx((4e-7, 159e9), rel=1e-3)
    del sweeps["read_bandwidth_over_loads_per_item"]
    without = global_bandwidth_parameters(sweeps, gtx_285())
    assert without.missing == ("read_bandwidth_over_loads_per_item",)


def luo_suda_findings() -> dict[str, Finding]:
    """The GTX 260: a few costs of Table 1, and degrees after equations 4 and 5 above c."""
    clocks = {
        "int32_add": 65,
        "fp32_add": 65,
        "int32_multiply": 136,
        "fp32_multiply": 65,
        "int32_division": 753,
        "fp32_division": 783,
        "int32_compare": 62,
        "int32_logic": 62,
    }
    costs = [value(f"{name}_latency", count / CLOCK) for name, count in clocks.items()]
    chase = curve(
        "chase_latency_over_footprint", np.array([1e3, 1e9]), np.array([1.0, 200]) / CLOCK
    )
    warps = np.arange(1.0, 33.0)
    mixes: list[Finding] = []
    for mix, share in ((4, 0.2), (16, 0.4), (64, 0.7), (256, 0.9)):
        second = 80 * (share - 0.5) ** 2 / 31 * np.sqrt(31**2 - (warps - 32) ** 2) + 3
        first = (0.5 - share) * (warps - 11) + 3
        degrees = np.minimum(first, second) if share < 0.5 else second
        mixes.append(curve(degree_curve_name(mix), warps, np.clip(degrees, 1, warps)))
        mixes.append(measurement(share_name(mix), [share], Unit.RATIO, "given"))
    return named(*costs, chase, *mixes)


def test_luo_suda_costs_in_clocks_and_constants() -> None:
    found = luo_suda_parameters(luo_suda_findings(), CLOCK, max_warps=32)
    assert found.missing == ()
    assert found.values is not None
    assert found.values.instruction_clocks["mul int"] == pytest.approx(136)
    assert found.values.memory_clocks == pytest.approx(200)
    degree = found.values.degree
    assert (degree.a, degree.b, degree.c, degree.d) == pytest.approx((3, 11, 0.5, 80), rel=0.02)


def test_luo_suda_memory_latency_is_that_of_the_last_plateau() -> None:
    findings = luo_suda_findings()
    footprints = 1e3 * np.exp2(np.arange(20.0))
    clocks = np.where(footprints < 1e5, 20.0, 200.0)
    clocks[-1] = 215.0
    name = "chase_latency_over_footprint"
    findings[name] = curve(name, footprints, clocks / CLOCK)
    found = luo_suda_parameters(findings, CLOCK, max_warps=32).values
    assert found is not None
    assert found.memory_clocks == pytest.approx(200)


def test_luo_suda_names_what_is_missing() -> None:
    findings = luo_suda_findings()
    del findings["fp32_division_latency"]
    for mix in (4, 16, 64):
        del findings[share_name(mix)]
    found = luo_suda_parameters(findings, CLOCK, max_warps=32)
    assert found.values is None
    assert found.missing == (
        "fp32_division_latency",
        "parallel_degree_over_warps_of_mix_* of two mixes",
    )


def test_roofline_of_mixed_intensity() -> None:
    intensity = np.concatenate(([0.0], np.exp2(np.arange(-3.0, 8.0))))
    name = "fp32_throughput_over_intensity"
    rates = np.minimum(intensity * 1e11, 4e11) + (intensity == 0)
    found = mixed_roofline({name: curve(name, intensity, rates)}, "fp32")
    assert found.values is not None
    assert found.values.ridge == pytest.approx(4, rel=0.05)
    assert mixed_roofline({}, "fp64").missing == ("fp64_throughput_over_intensity",)
