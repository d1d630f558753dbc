"""Volumes from address expressions beside those of the simulator, which executes the kernel's PTX.

The two share no code that counts wavefronts, footprints or waves. The configurations are those of
Ernst et al. 2022, section 5: two kernels, shapes of thread blocks, foldings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.model import warpspeed_estimate
from kernelcast.models.warpspeed.volumes.volumes import Volumes, volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.file import load_device
from kernelcast.validation.simulated_volumes import SimulatedVolumes, simulated_volumes
from kernelcast.validation.warpspeed_twins import Configuration, Folding, Twin

__all__ = [
    "CONFIGURATIONS",
    "DEVICES",
    "Metric",
    "VolumeComparison",
    "VolumeReport",
    "compare_volumes",
    "validate_volumes",
]

DEVICES = ("a100-40gb", "v100-pcie", "mi210")
_STENCIL = Twin.STENCIL
_TRACKING = Twin.INTERFACE_TRACKING
_UNTILED = (600, 500, 500)
"""A domain of which no axis is a multiple of the thread blocks laid on it."""
CONFIGURATIONS = (
    Configuration(_STENCIL, (32, 4, 8)),
    Configuration(_STENCIL, (32, 1, 32)),
    Configuration(_STENCIL, (16, 8, 8)),
    Configuration(_STENCIL, (128, 8, 1)),
    Configuration(_STENCIL, (4, 64, 4)),
    Configuration(_STENCIL, (64, 4, 4), Folding.TWO_Y),
    Configuration(_STENCIL, (16, 2, 32), Folding.TWO_Y),
    Configuration(_STENCIL, (16, 2, 32), Folding.TWO_Z),
    Configuration(_STENCIL, (64, 4, 4), Folding.TWO_Z),
    Configuration(_STENCIL, (32, 8, 4), Folding.NONE, _UNTILED),
    Configuration(_TRACKING, (32, 4, 4)),
    Configuration(_TRACKING, (64, 1, 8)),
    Configuration(_TRACKING, (8, 8, 8)),
    Configuration(_TRACKING, (2, 16, 16)),
    Configuration(_TRACKING, (32, 4, 4), Folding.TWO_Y),
    Configuration(_TRACKING, (16, 4, 8), Folding.TWO_Z),
)
_TIE = 0.02
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a cell, estimated and simulated; `most` is the largest error that may be."""

    name: str
    unit: str
    estimated: float
    simulated: float
    most: float

    @property
    def error(self) -> float:
        """The relative error of the estimate."""
        return self.estimated / self.simulated - 1

    @property
    def is_within(self) -> bool:
        """Whether the error is at most what is allowed."""
        return abs(self.error) <= self.most + _ROUNDING


@dataclass(frozen=True)
class VolumeComparison:
    """One configuration on one device; `estimate` of the launch, `simulation` of a cell of it.

    `estimated_s` and `simulated_s` are the model's times for the two.
    """

    configuration: Configuration
    device: str
    estimate: Volumes
    simulation: SimulatedVolumes
    estimated_s: float
    simulated_s: float

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Wavefronts must be exact where thread blocks tile the domain."""
        exactly = 0.0 if self.configuration.tiles_domain else 0.02
        return (
            self._metric("L1 wavefronts", "", "l1_wavefronts", exactly),
            self._metric("L2-L1 loads", "B", "l2_load_bytes", 0.10),
            self._metric("L2-L1 stores", "B", "l2_store_bytes", 0.10),
            self._metric("DRAM stores", "B", "dram_store_bytes", 0.15),
        )

    @property
    def dram_loads(self) -> Metric:
        """DRAM loads, for most configurations within 15 %; at most a factor of two off."""
        return self._metric("DRAM loads", "B", "dram_load_bytes", 0.15)

    @property
    def oversubscription(self) -> str:
        """The oversubscription of L1, then of L2 by a wave, the y layer and the z layer (eq 4)."""
        found = self.estimate
        return (
            f"L1 {found.l1_oversubscription:.2f}, wave {found.wave_oversubscription:.2f}, "
            f"y {found.y_layer_oversubscription:.2f}, z {found.z_layer_oversubscription:.2f}"
        )

    def _metric(self, name: str, unit: str, attribute: str, most: float) -> Metric:
        simulated: float = getattr(self.simulation, attribute)
        return Metric(name, unit, self.estimate.per_work(attribute), simulated, most)


@dataclass(frozen=True)
class VolumeReport:
    """All comparisons, and what of them is not as good as it must be."""

    comparisons: tuple[VolumeComparison, ...]

    FEWEST_WITHIN = 0.85
    LARGEST_FACTOR = 2.0
    LEAST_TAU = 0.8
    LEAST_TAU_APART = 0.9

    @property
    def share_within(self) -> float:
        """The share of configurations whose DRAM loads are within 15 %."""
        found = [item.dram_loads.is_within for item in self.comparisons]
        return sum(found) / len(found)

    @property
    def beyond(self) -> tuple[VolumeComparison, ...]:
        """Comparisons whose DRAM loads are not within 15 %."""
        return tuple(item for item in self.comparisons if not item.dram_loads.is_within)

    def tau(self, least_difference: float = 0.0) -> float:
        """Kendall's tau of the times, over pairs of one kernel on one device.

        The simulated times of a pair differ by more than that share; ties in the estimate count for
        neither side.
        """
        score = pairs = 0
        for one, other in combinations(self.comparisons, 2):
            if not _are_rivals(one, other):
                continue
            low, high = sorted((one.simulated_s, other.simulated_s))
            if high <= low * (1 + least_difference):
                continue
            pairs += 1
            product = (one.simulated_s - other.simulated_s) * (one.estimated_s - other.estimated_s)
            score += (product > 0) - (product < 0)
        return score / pairs if pairs else 1.0

    @property
    def problems(self) -> tuple[str, ...]:
        """A line each; empty when all is as it must be."""
        found = [
            f"{item.configuration.title} on {item.device}: {metric.name} {metric.error:+.1%}, at "
            f"most {metric.most:.0%} may be"
            for item in self.comparisons
            for metric in item.metrics
            if not metric.is_within
        ]
        found += [
            f"{item.configuration.title} on {item.device}: DRAM loads {item.dram_loads.error:+.1%}"
            f" (oversubscription: {item.oversubscription})"
            for item in self.beyond
            if not 1 / self.LARGEST_FACTOR <= 1 + item.dram_loads.error <= self.LARGEST_FACTOR
        ]
        if self.share_within < self.FEWEST_WITHIN:
            found.append(f"only {self.share_within:.0%} of all DRAM loads are within 15 %")
        for difference, least in ((0.0, self.LEAST_TAU), (_TIE, self.LEAST_TAU_APART)):
            tau = self.tau(difference)
            if tau < least:
                found.append(
                    f"Kendall's tau of times that differ by more than {difference:.0%} is "
                    f"{tau:.2f}, less than {least}"
                )
        return tuple(found)

    @property
    def tau_apart(self) -> float:
        """Kendall's tau of times that differ by more than 2 %."""
        return self.tau(_TIE)


def validate_volumes(
    devices: Sequence[str] = (), *, progress: StageProgress | None = None
) -> VolumeReport:
    """Every configuration on the devices, by default on DEVICES; some minutes."""
    names = devices or DEVICES
    for name in names:
        if load_device(name).section(WARPSPEED) is None:
            raise KernelcastError(f"device {name} has no section [warpspeed]")
    todo = [(name, item) for name in names for item in CONFIGURATIONS]
    found = []
    for number, (name, item) in enumerate(todo):
        if progress is not None:
            progress(f"{item.title} on {name}", number / len(todo))
        found.append(compare_volumes(item, name))
    return VolumeReport(tuple(found))


def compare_volumes(configuration: Configuration, device: str) -> VolumeComparison:
    """Estimates and simulates one configuration on a device."""
    target, kernel = load_device(device), configuration.address_kernel()
    estimate = volumes(kernel, target)
    simulation = simulated_volumes(configuration, target)
    measured = _with_volumes(estimate, simulation)
    return VolumeComparison(
        configuration=configuration,
        device=device,
        estimate=estimate,
        simulation=simulation,
        estimated_s=warpspeed_estimate(estimate, kernel, target).time_s,
        simulated_s=warpspeed_estimate(measured, kernel, target).time_s,
    )


def _are_rivals(one: VolumeComparison, other: VolumeComparison) -> bool:
    """Whether a ranking would hold both: one kernel and domain, one device."""
    return (
        one.device == other.device
        and one.configuration.twin is other.configuration.twin
        and one.configuration.domain == other.configuration.domain
    )


def _with_volumes(estimate: Volumes, simulation: SimulatedVolumes) -> Volumes:
    """What the model reads of an estimate, from the simulation."""
    work = estimate.work
    return replace(
        estimate,
        l1_accesses=simulation.l1_accesses * work,
        l1_wavefronts=simulation.l1_wavefronts * work,
        l1_passes=simulation.l1_passes * work,
        l1_cycles=simulation.l1_passes * work * estimate.l1_cycles / estimate.l1_passes,
        l2_load_compulsory_bytes=simulation.l2_load_bytes * work,
        l2_load_capacity_bytes=0.0,
        l2_store_bytes=simulation.l2_store_bytes * work,
        dram_compulsory_bytes=simulation.dram_load_bytes * work,
        y_layer_miss_bytes=0.0,
        z_layer_miss_bytes=0.0,
        wave_miss_bytes=0.0,
        partial_store_fill_bytes=0.0,
        dram_store_compulsory_bytes=simulation.dram_store_bytes * work,
        redundant_store_bytes=0.0,
    )
