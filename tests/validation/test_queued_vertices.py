"""The queue of a breadth-first search fits whatever the random numbers of a NumPy release are."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.workload.file import load_workload

GRAPH = Path(__file__).parents[2] / "validation" / "workloads" / "graph"
SIZES = {"vertices": 803, "edges": 6_401, "level": 2}


@pytest.fixture(scope="module")
def inputs() -> dict[str, Any]:
    return runpy.run_path(str(GRAPH / "inputs.py"))


def test_the_queue_has_the_first_vertices_of_the_level(inputs: dict[str, Any]) -> None:
    level = np.flatnonzero(inputs["distances"](SIZES) == SIZES["level"])
    assert len(level) > 20
    for queued in (len(level), len(level) - 7, 1):
        assert np.array_equal(inputs["queue"]({**SIZES, "queued": queued}), level[:queued])
    with pytest.raises(ValueError, match="queue no more"):
        inputs["queue"]({**SIZES, "queued": len(level) + 1})


@pytest.mark.parametrize("queued", [1_790, 1_700])
def test_only_neighbours_of_the_queue_are_reached(queued: int) -> None:
    """The reference: each neighbour of a queued vertex that no level has, once."""
    workload = load_workload(GRAPH / "bfs_level.toml")
    sizes = {"vertices": 8_003, "edges": 64_013, "level": 2, "queued": queued}
    made = runpy.run_path(str(GRAPH / "inputs.py"))
    names = ("row_starts", "columns", "distances", "queue")
    buffers = {name: made[name](sizes) for name in names}
    new = set()
    for vertex in buffers["queue"]:
        start, end = buffers["row_starts"][vertex : vertex + 2]
        new |= {v for v in buffers["columns"][start:end] if buffers["distances"][v] < 0}
    reference = runpy.run_path(str(GRAPH / "reference.py"))["bfs_level"]
    found = reference(buffers, sizes)
    assert workload.sizes["small"]["queued"] == 1_790
    assert found["next_queued"] == [len(new)]
    assert set(np.flatnonzero(found["distances"] == 3)) == new
