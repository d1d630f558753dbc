"""`[ptx_costs]` of a measured device, and its parallel degree in the model and in the fit."""

from __future__ import annotations

import tomllib
from dataclasses import astuple

import numpy as np
import pytest

from kernelcast.models.mpd_cpd.equations import computation_parallel_degree
from kernelcast.models.mpd_cpd.ptx_costs import LISTED_OPERATIONS, ParallelDegreeFacts, PtxCostFacts
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.entry import section_lines
from kernelcast.opencl_bench.device_file.ptx_cost_sections import ptx_cost_sections
from kernelcast.opencl_bench.fits.parallel_degree import ParallelDegree
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Measurement, Unit
from kernelcast.opencl_bench.parallel_degree import degree_curve_name, share_name
from kernelcast.opencl_bench.session import Outcome, Session, State
from kernelcast.opencl_bench.target import DeviceFacts

CLOCK = 1.242e9
GTX_260 = ParallelDegree(3.0, 11.0, 0.5, 80.0, max_warps=32)
CLOCKS = {
    "int32_add": 65,
    "fp32_add": 64,
    "int32_multiply": 136,
    "fp32_multiply": 66,
    "int32_division": 753,
    "fp32_division": 783,
    "int32_compare": 62,
    "int32_logic": 61,
}
FACTS = DeviceFacts(
    name="GTX 260",
    vendor="nobody",
    platform="synthetic",
    driver="OpenCL 1.1",
    is_cpu=False,
    compute_units=24,
    clock_hz=CLOCK,
    global_bytes=896 << 20,
    max_buffer_bytes=224 << 20,
    local_bytes=16 << 10,
    constant_bytes=64 << 10,
    cache_bytes=0,
    cache_line_bytes=128,
    max_work_group=512,
    preferred_work_group_multiple=32,
    features=frozenset(),
)


def curve(name: str, x: list[float], y: list[float]) -> Curve:
    points = tuple(CurvePoint(*point, 0.0) for point in zip(x, y, strict=True))
    return Curve(name, "x", Unit.COUNT, "y", Unit.RATIO, points, "given")


def findings() -> list[Finding]:
    """Costs like those of Table 1, and degrees by equations 3 to 5."""
    found: list[Finding] = [
        Measurement(f"{name}_latency", clocks / CLOCK, Unit.SECONDS, 0.0, 5, "given")
        for name, clocks in CLOCKS.items()
    ]
    found.append(curve("chase_latency_over_footprint", [1e3, 1e9], [1 / CLOCK, 200 / CLOCK]))
    warps = [float(count) for count in range(1, 33)]
    for mix, share in ((4, 0.2), (16, 0.4), (64, 0.7), (256, 0.9)):
        degrees = GTX_260.at(np.array(warps), np.full(32, share)).tolist()
        found.append(curve(degree_curve_name(mix), warps, degrees))
        found.append(Measurement(share_name(mix), share, Unit.RATIO, 0.0, 5, "given"))
    return found


def sections(found: list[Finding]) -> dict[str, object]:
    benchmark = Benchmark("all", "all", lambda target, effort: found)
    outcome = Outcome(benchmark, State.MEASURED, tuple(found), date="2031-05-06")
    basis = DeviceBasis(Session(FACTS, Effort.QUICK, (outcome,)))
    lines = (section_lines(*item) for item in ptx_cost_sections(basis, 32))
    return tomllib.loads("\n".join(line for section in lines for line in section))


def test_sections_have_every_cost_and_its_source() -> None:
    costs = sections(findings())["ptx_costs"]
    assert isinstance(costs, dict)
    assert set(costs) == set(PtxCostFacts.__dataclass_fields__)
    assert set(LISTED_OPERATIONS.values()) < set(costs)
    assert costs["access_cycles"]["value"] == pytest.approx(200)
    assert costs["multiply"]["int_reg_cycles"]["value"] == pytest.approx(136)
    assert costs["multiply"]["int_reg_cycles"]["source"] == "derived"
    assert costs["multiply"]["int_const_cycles"]["source"] == "assumed"
    assert costs["add"]["float_reg_cycles"]["value"] == pytest.approx(64)
    assert costs["multiply_add"]["float_reg_cycles"]["source"] == "assumed"
    assert costs["bitwise_not"]["int_reg_cycles"]["value"] == pytest.approx(61)
    degree = {name: entry["value"] for name, entry in costs["parallel_degree"].items()}
    assert [degree[name] for name in "abcdm"] == pytest.approx([3, 11, 0.5, 80, 32], rel=0.02)


def test_nothing_where_a_finding_is_missing() -> None:
    assert sections(findings()[1:]) == {}


def test_the_model_has_the_degrees_that_were_fitted() -> None:
    constants = ParallelDegreeFacts(*astuple(GTX_260)[:5])
    for share in (0.1, 0.2623, 0.45, 0.5, 0.77, 0.87):
        for warps in (1, 3, 8, 11, 16, 31, 32):
            fitted = float(GTX_260.at(np.array([float(warps)]), np.array([share]))[0])
            assert computation_parallel_degree(share, warps, constants) == pytest.approx(fitted)
