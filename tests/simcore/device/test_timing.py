"""`[timing]` of the device files, against published tables and measurements."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kernelcast.report.devices import device_rows
from kernelcast.simcore.device.checks import contradictions
from kernelcast.simcore.device.device import Source
from kernelcast.simcore.device.file import known_devices, load_device, load_observations
from kernelcast.simcore.device.timing_facts import PipelineFacts, TimingFacts

PIPELINES = (
    *("fp32", "fp64", "half", "integer"),
    *("integer_multiply", "conversion", "special_function", "shuffle"),
)
GCN = ("r9-nano", "mi100", "mi210", "mi250x", "mi300a", "mi300x", "mi355x")


def timing_of(name: str) -> TimingFacts:
    timing = load_device(name).timing
    assert timing is not None
    return timing


NEED_NOT_SAY = (
    "warp_launch_cycles",
    "dispatch_cycles",
    "barrier_warp_cycles",
    "dram_queue_cycles",
    "dram_mixed_queue_cycles",
    "dram_turn_cycles",
    "dram_latency_deviation_cycles",
    "dram_queue_deviation_cycles",
    "dram_mixed_deviation_cycles",
    "l2_requests_per_s",
    "l2_write_bandwidth_bytes_per_s",
    "dram_pieces_per_s",
    "l2_partial_writes_per_s",
    "load_store_lanes",
    "reconvergence_latency_cycles",
    "scalar_issue_cycles",
    "scalar_latency_cycles",
    "mixed_issues",
)
"""Effects that are off where nobody measured them."""


@pytest.mark.parametrize("name", known_devices())
def test_every_device_has_every_value_with_its_source(name: str) -> None:
    device = load_device(name)
    plain = {
        item.name
        for item in fields(TimingFacts)
        if item.name not in NEED_NOT_SAY or getattr(timing_of(name), item.name)
    } - set(PIPELINES)
    expected = {f"timing.{key}" for key in plain} | {
        f"timing.{pipeline}.{item.name}" for pipeline in PIPELINES for item in fields(PipelineFacts)
    }
    found = {key for key in device.provenance if key.startswith("timing.")}
    assert found == expected
    assert expected <= {str(row[0]) for row in device_rows(device)}
    assert list(contradictions(device, load_observations(name))) == []


# CUDA C++ Programming Guide, throughput of native arithmetic instructions, results a cycle and SM:
# single, double, integer addition, integer multiply-add, special functions. None: several
# instructions. The GeForce boards of 2.0 and 8.6 run double precision slower than the table says.
GUIDE = {
    "1.3": (8, 1, 8, None, 2),
    "2.0": (32, None, 32, 16, 4),
    "3.0": (192, 8, 160, 32, 32),
    "3.5": (192, 64, 160, 32, 32),
    "5.2": (128, 4, 128, None, 32),
    "6.1": (128, 4, 128, None, 32),
    "7.0": (64, 32, 64, 64, 16),
    "7.5": (64, 2, 64, 64, 16),
    "8.0": (64, 32, 64, 64, 16),
    "8.6": (128, 2, 64, 64, 16),
    "8.9": (128, 2, 64, 64, 16),
    "9.0": (128, 64, 64, 64, 16),
}


@pytest.mark.parametrize("name", known_devices())
def test_lanes_are_those_of_the_programming_guide(name: str) -> None:
    timing, capability = timing_of(name), load_device(name).architecture.compute_capability
    if capability not in GUIDE:
        assert not capability[0].isdigit() or capability in {"0.0", "10.0"}
        return
    found = (
        timing.fp32.lanes,
        timing.fp64.lanes,
        timing.integer.lanes,
        timing.integer_multiply.lanes,
        timing.special_function.lanes,
    )
    pairs = zip(found, GUIDE[capability], strict=True)
    assert all(lanes == known for lanes, known in pairs if known is not None)


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("gtx-285", 24),  # Wong et al., ISPASS 2010, GTX 280
        ("gtx-480", 18),  # micro-benchmarks of Fermi
        ("gtx-660", 9),  # Jia et al., arXiv:1804.06826: K80
        ("tesla-k20c", 9),
        ("gtx-960", 6),  # the same: M60
        ("gtx-1070", 6),  # the same: P4
        ("v100-pcie", 4),  # the same: V100
        ("quadro-rtx-4000", 4),  # Jia et al., arXiv:1903.07486: T4
        ("a100-80gb", 4),  # Abdelkhalik et al., arXiv:2208.11174
        ("r9-nano", 4),  # AMD GCN architecture white paper
        ("mi210", 4),
        ("rx-6900-xt", 5),  # AMD GPUOpen, RDNA architecture slides
    ],
)
def test_latencies_of_single_precision(name: str, cycles: float) -> None:
    assert timing_of(name).fp32.latency_cycles == cycles


@pytest.mark.parametrize(
    ("name", "shared", "l1", "l2"),
    [
        ("gtx-660", 26, 35, 200),  # Jia et al., arXiv:1804.06826: K80
        ("gtx-960", 23, 82, 207),  # M60
        ("gtx-1070", 23, 82, 216),  # P4
        ("v100-pcie", 19, 28, 212.1),  # V100; L2 by the pointer chase of gpu-benches
        ("quadro-rtx-4000", 19, 32, 188),  # Jia et al., arXiv:1903.07486: T4
    ],
)
def test_latencies_of_the_caches(name: str, shared: float, l1: float, l2: float) -> None:
    timing = timing_of(name)
    assert timing.shared_latency_cycles == shared
    assert timing.l1_latency_cycles == l1
    assert timing.l2_latency_cycles == l2


@pytest.mark.parametrize("name", known_devices())
def test_lanes_times_clock_are_the_peaks(name: str) -> None:
    """Thesis boards ran above the clock behind their theoretical peak, by up to 13 %."""
    device, timing = load_device(name), timing_of(name)
    cycles = 2.0 * device.architecture.sm_count * device.architecture.clock_hz
    for pipeline, peak in (
        (timing.fp32, device.peak.fp32_flops_per_s),
        (timing.fp64, device.peak.fp64_flops_per_s),
    ):
        assert 0.87 <= peak / (cycles * pipeline.lanes) <= 1.02


@pytest.mark.parametrize("name", GCN)
def test_four_simds_of_16_lanes(name: str) -> None:
    """A wavefront of 64 takes four cycles at full rate, and the next one may use its results."""
    device, timing = load_device(name), timing_of(name)
    assert device.sm.warp_schedulers == 4
    assert device.architecture.warp_width == 64
    for key in set(PIPELINES) - {"shuffle"}:
        facts: PipelineFacts = getattr(timing, key)
        assert facts.latency_cycles == max(4, 64 / (facts.lanes / 4))


@pytest.mark.parametrize("name", known_devices())
def test_stores_hold_the_places_of_thread_blocks_on_amd_only(name: str) -> None:
    """Kernels of gpu-stream that also write take about an L2 latency longer there, none on others:
    MI210 943 and 1257 cycles, V100 785 and 844."""
    timing, vendor = timing_of(name), load_device(name).architecture.vendor
    assert timing.store_retire_cycles == (timing.l2_latency_cycles if vendor == "AMD" else 0.0)


@pytest.mark.parametrize("name", ["r9-nano", "mi210", "mi300x", "rx-6900-xt", "rx-7900-xtx"])
def test_amd_issues_two_instructions_since_rdna_3_only(name: str) -> None:
    assert timing_of(name).issues_per_scheduler == (2 if name == "rx-7900-xtx" else 1)


@pytest.mark.parametrize("name", known_devices())
def test_a_full_gpu_keeps_its_memory_busy(name: str) -> None:
    """Little's law: sectors in flight over the latency are at least the attainable bandwidth."""
    device, timing = load_device(name), timing_of(name)
    in_flight = timing.outstanding_sectors * device.l2.sector_bytes * device.architecture.sm_count
    attainable = timing.dram_efficiency * device.dram.bandwidth_bytes_per_s
    assert in_flight / device.seconds(timing.dram_latency_cycles) > attainable


# GB/s of gpu-benches, gpu-stream, init: one thread block of 32 threads on each SM; the best of all
INIT = {
    "v100-pcie": (78, 897),
    "a100-80gb": (106, 1908),
    "a40": (104, 680),
    "l40": (161, 847),
    "gh200": (153, 3944),
    "mi100": (65, 1095),
    "mi210": (67, 1533),
    "mi300a": (210, 3069),
    "mi300x": (266, 4849),
    "rx-6900-xt": (145, 506),
}


@pytest.mark.parametrize("name", INIT)
def test_thread_blocks_follow_each_other_as_measured(name: str) -> None:
    """A thread writes 8 bytes after two dependent products, two additions and a branch.

    On AMD GPUs the store is waited for.
    """
    device, timing = load_device(name), timing_of(name)
    single, best = INIT[name]
    bytes_a_round = device.architecture.sm_count * 32 * 8
    measured = bytes_a_round / (single * 1e9) * device.architecture.clock_hz
    modelled = (
        timing.thread_block_launch_cycles
        + 2 * timing.integer_multiply.latency_cycles
        + 2 * timing.integer.latency_cycles
        + timing.branch_latency_cycles
        + timing.store_retire_cycles
    )
    assert modelled == pytest.approx(measured, rel=0.01)
    share = best * 1e9 / device.dram.bandwidth_bytes_per_s
    assert timing.dram_efficiency == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize("name", known_devices())
def test_published_latencies_are_those_of_the_observations(name: str) -> None:
    device = load_device(name)
    for item in load_observations(name):
        where = device.provenance.get(f"timing.{item.quantity}")
        if where is not None and where.reference == item.provenance.reference:
            assert getattr(device.timing, item.quantity) == item.value
            assert where.source is Source.PUBLISHED


# GB/s of gpu-benches, gpu-stream: scale (one read, one write) and init (write), the best of each
SCALE = {
    "HBM": {
        "a100-40gb": (1382, 1539),
        "gh200": (3174, 3944),
        "mi100": (969, 1095),
        "mi300a": (2956, 3069),
        "mi300x": (4058, 4849),
    },
    "GDDR6": {"a40": (659, 680), "rx-6900-xt": (463, 506)},
}
HELD_BACK = {
    "HBM": ("v100-pcie", "a100-80gb", "h100-pcie", "mi210"),
    "GDDR6": ("l40",),
}


@pytest.mark.parametrize("memory", SCALE)
def test_reads_among_writes_cost_what_other_gpus_of_that_memory_lose(memory: str) -> None:
    shares = {name: scale / init for name, (scale, init) in SCALE[memory].items()}
    for name, share in shares.items():
        assert timing_of(name).dram_mixed_efficiency == pytest.approx(share, rel=1e-3)
    mean = sum(shares.values()) / len(shares)
    for name in HELD_BACK[memory]:
        assert timing_of(name).dram_mixed_efficiency == pytest.approx(mean, rel=1e-3)
        assert "timing.dram_mixed_efficiency" in load_device(name).assumed


@pytest.mark.parametrize("name", known_devices())
def test_copies_are_not_charged_twice(name: str) -> None:
    """Where the attainable share is that of B_mem, which has copies in it, nothing is lost."""
    of_means = "measured.dram" in load_device(name).provenance["timing.dram_efficiency"].reference
    assert not of_means or timing_of(name).dram_mixed_efficiency == 1.0
