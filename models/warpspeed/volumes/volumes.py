"""Data volumes of a kernel at each level of the memory, from its address expressions alone.

Ernst, Holzer, Hager, Knorr, Wellein, Analytical performance estimation during code generation on
modern GPUs (2022), section 4. Nothing is executed and no address of a wave is listed.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.warpspeed.volumes.block_volumes import BlockVolumes, block_volumes
from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.wave_volumes import WaveVolumes, wave_volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.address.waves import wave_sets
from kernelcast.simcore.device.device import Device

__all__ = ["Volumes", "volumes"]


@dataclass(frozen=True, slots=True)
class Volumes:
    """Data volumes of one launch; bytes, and counts of L1.

    `per_work` divides any of them. `l1_wavefronts` are those of the data banks, `l1_passes` what
    data and tags need, `l1_cycles` how long that takes an L1 of the device's width.

    L2 to L1: `l2_load_compulsory_bytes` are the distinct sectors of each thread block,
    `l2_load_capacity_bytes` what L1 cannot keep. DRAM reads are the sum of five parts:
    `dram_compulsory_bytes` of waves without what the layers before them share with them, the misses
    among those shared, `wave_miss_bytes` that a wave larger than L2 reads again, and the sectors
    that `redundant_store_bytes` and stores with gaps make it read. Oversubscriptions: volumes over
    capacities (equation 4).
    """

    kernel: str
    device: str
    work: float
    l1_accesses: float
    l1_wavefronts: float
    l1_passes: float
    l1_cycles: float
    l1_requested_bytes: float
    l2_load_compulsory_bytes: float
    l2_load_capacity_bytes: float
    l2_store_bytes: float
    dram_compulsory_bytes: float
    y_layer_overlap_bytes: float
    z_layer_overlap_bytes: float
    y_layer_miss_bytes: float
    z_layer_miss_bytes: float
    wave_miss_bytes: float
    partial_store_fill_bytes: float
    dram_store_compulsory_bytes: float
    redundant_store_bytes: float
    l1_oversubscription: float
    wave_oversubscription: float
    y_layer_oversubscription: float
    z_layer_oversubscription: float
    wave_shape: tuple[int, int, int]
    """Thread blocks that a wave spans along each axis."""
    wave_cells: tuple[int, int, int]
    wave_thread_blocks: int
    thread_blocks_per_sm: int
    waves: float

    @property
    def l2_load_bytes(self) -> float:
        """Bytes that loads move from L2 to L1."""
        return self.l2_load_compulsory_bytes + self.l2_load_capacity_bytes

    @property
    def l2_bytes(self) -> float:
        """Both directions."""
        return self.l2_load_bytes + self.l2_store_bytes

    @property
    def dram_load_bytes(self) -> float:
        """Bytes read from DRAM: the sum of the five parts."""
        return (
            self.dram_compulsory_bytes
            + self.y_layer_miss_bytes
            + self.z_layer_miss_bytes
            + self.wave_miss_bytes
            + self.partial_store_fill_bytes
        )

    @property
    def dram_store_bytes(self) -> float:
        """Bytes written to DRAM."""
        return self.dram_store_compulsory_bytes + self.redundant_store_bytes

    @property
    def dram_bytes(self) -> float:
        """Bytes read from and written to DRAM."""
        return self.dram_load_bytes + self.dram_store_bytes

    @property
    def holds_z_layer(self) -> bool:
        """Whether L2 keeps what a plane of thread blocks leaves to the next one.

        This is the layer condition of section 4.4.2.
        """
        return self.z_layer_oversubscription <= 1

    def per_work(self, name: str) -> float:
        """A volume by its attribute's name over the units of work: bytes a lattice update."""
        return float(getattr(self, name)) / self.work


def volumes(kernel: AddressKernel | BoundKernel, device: Device) -> Volumes:
    """Computes the data volumes of a kernel on a device.

    A bound kernel remembers what several devices ask of it alike. ModelNotApplicable for devices
    without [warpspeed], for addresses that are not affine and for thread blocks that do not fit the
    device.
    """
    bound = kernel if isinstance(kernel, BoundKernel) else BoundKernel(kernel)
    kernel, facts = bound.kernel, device.section(WARPSPEED)
    if facts is None:
        raise ModelNotApplicable(f"{device.title} has no section [warpspeed] in its device file")
    if kernel.cells <= 0:
        raise ModelNotApplicable(f"the domain of {kernel.name} has no cells")
    sets = wave_sets(kernel, device)
    of_blocks = block_volumes(bound, sets.thread_blocks_per_sm, device, facts)
    of_wave = wave_volumes(bound, sets, of_blocks, device, facts)
    return _volumes(kernel, device, of_blocks, of_wave)


def _volumes(
    kernel: AddressKernel, device: Device, blocks: BlockVolumes, wave: WaveVolumes
) -> Volumes:
    """The launch's volumes: those of all thread blocks, and the wave's by its share of cells."""
    scale = kernel.cells / wave.cells
    return Volumes(
        kernel=kernel.name,
        device=device.name,
        work=kernel.cells * kernel.work_per_cell,
        l1_accesses=blocks.requests.accesses,
        l1_wavefronts=blocks.requests.wavefronts,
        l1_passes=blocks.requests.passes,
        l1_cycles=blocks.requests.cycles,
        l1_requested_bytes=blocks.requested_bytes,
        l2_load_compulsory_bytes=blocks.load_bytes,
        l2_load_capacity_bytes=blocks.capacity_bytes,
        l2_store_bytes=blocks.store_bytes,
        dram_compulsory_bytes=wave.load_bytes * scale,
        y_layer_overlap_bytes=wave.y_overlap_bytes * scale,
        z_layer_overlap_bytes=wave.z_overlap_bytes * scale,
        y_layer_miss_bytes=wave.y_miss_bytes * scale,
        z_layer_miss_bytes=wave.z_miss_bytes * scale,
        wave_miss_bytes=wave.wave_miss_bytes * scale,
        partial_store_fill_bytes=wave.fill_bytes * scale,
        dram_store_compulsory_bytes=wave.store_bytes * scale,
        redundant_store_bytes=wave.redundant_store_bytes * scale,
        l1_oversubscription=blocks.oversubscription,
        wave_oversubscription=wave.oversubscription,
        y_layer_oversubscription=wave.y_oversubscription,
        z_layer_oversubscription=wave.z_oversubscription,
        wave_shape=wave.sets.shape,
        wave_cells=wave.extent,
        wave_thread_blocks=wave.sets.thread_blocks,
        thread_blocks_per_sm=wave.sets.thread_blocks_per_sm,
        waves=wave.sets.waves,
    )
