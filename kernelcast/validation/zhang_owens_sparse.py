"""Sparse matrix times vector in Zhang and Owens: bytes that an entry of the matrix costs.

Section 5.3 counts fixed segments of the smallest size, of 32 bytes as on the GTX-285 and of 16. An
entry is a value of 4 bytes, its share of a column index, and what is read of the vector for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.device_file import load_device
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload_file import load_workload

__all__ = ["INDEX_BYTES", "VALUE_BYTES", "vector_bytes"]

VALUE_BYTES = 4.0
INDEX_BYTES: Mapping[str, float] = {"ell": 4.0, "bell_im": 4.0 / 9.0, "bell_imiv": 4.0 / 9.0}
"""By storage format: one index an entry, or one for a tile of 3 x 3."""
_DEVICE = "gtx-285"
_ENTRIES = 49_152 * 39


def vector_bytes(form: str, segment_bytes: int, size: str = "full") -> float:
    """DRAM reads an entry beyond values and indices, on the lattice matrix of 49,152 rows."""
    device = load_device(_DEVICE).changed(
        {"coalescing": "fixed segments", "segments.min_segment_bytes": segment_bytes}
    )
    workload = load_workload(SUITE / "sparse_formats" / f"spmv_{form}.toml")
    traffic = workload.run(size, devices=[device]).profile(device).traffic
    read = traffic.dram_read_transactions * traffic.sector_bytes / _ENTRIES
    return read - VALUE_BYTES - INDEX_BYTES[form]
