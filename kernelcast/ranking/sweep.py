"""Predictions of many launch configurations, on all cores; an interrupted sweep can be resumed."""

from __future__ import annotations

import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import get_context
from typing import Protocol, TypeAlias

from kernelcast.errors import KernelcastError
from kernelcast.progress import Progress
from kernelcast.ranking.ranking import Outcome, Ranking, make_ranking
from kernelcast.ranking.store import RankStore, outcome_key
from kernelcast.ranking.variations import Configuration, Shape
from kernelcast.simcore.device.device import Device

__all__ = ["RankedKernel", "rank_configurations"]

"""Called with the share of the predictions that are there, 0 to 1."""

_FEW = 64
"""Configurations that one core has ranked before other processes have started."""
_CHUNK = 8


class RankedKernel(Protocol):
    """A kernel that predictions are made of; it is sent to other processes."""

    @property
    def name(self) -> str:
        """The kernel's name, for messages."""

    @property
    def statements(self) -> tuple[str, ...]:
        """What is to be said below the ranking."""

    @property
    def cells(self) -> Shape:
        """The cells that the launch covers along each axis."""

    @property
    def thread_block(self) -> Shape:
        """The given thread-block shape, for sweeps that do not vary it."""

    @property
    def folding(self) -> Shape:
        """The given folding, for sweeps that do not vary it."""

    def model(self, device: Device) -> str:
        """The model that predicts."""

    def fingerprint(self, device: Device) -> str:
        """Text that tells it from every other kernel and model."""

    def outcomes(
        self, configuration: Configuration, devices: Sequence[Device]
    ) -> tuple[Outcome, ...]:
        """One for each device."""


Chunk: TypeAlias = Sequence[tuple[Configuration, tuple[int, ...]]]
Found: TypeAlias = list[tuple[Configuration, int, Outcome]]


def rank_configurations(
    kernel: RankedKernel,
    configurations: Sequence[Configuration],
    devices: Sequence[Device],
    *,
    processes: int = 1,
    store: RankStore | None = None,
    progress: Progress | None = None,
) -> tuple[Ranking, ...]:
    """Ranks the configurations on each device.

    What `store` holds already is not predicted again, and what is found is written there at once:
    an interrupted sweep goes on where it was. With `processes` above 1 the caller's main module
    must be importable, as multiprocessing wants. KernelcastError when there is nothing to rank.
    """
    if not configurations or not devices:
        raise KernelcastError("nothing to rank: no configuration or no device")
    keys = {
        (item, number): outcome_key(kernel.fingerprint(device), item, device)
        for number, device in enumerate(devices)
        for item in configurations
    }
    known = store.outcomes if store is not None else {}
    found = {place: known[key] for place, key in keys.items() if key in known}
    pending = [
        (item, tuple(n for n in range(len(devices)) if (item, n) not in found))
        for item in dict.fromkeys(configurations)
    ]
    work = [(item, numbers) for item, numbers in pending if numbers]
    with closing(_predict(kernel, work, devices, processes)) as results:
        for part in results:
            found |= {(item, number): outcome for item, number, outcome in part}
            if store is not None:
                store.add({keys[item, number]: outcome for item, number, outcome in part})
            if progress is not None:
                progress(len(found) / len(keys))
    return tuple(
        make_ranking(
            kernel.name,
            device.name,
            kernel.model(device),
            {item: found[item, number] for item in configurations},
            kernel.statements,
        )
        for number, device in enumerate(devices)
    )


def _predict(
    kernel: RankedKernel,
    work: Sequence[tuple[Configuration, tuple[int, ...]]],
    devices: Sequence[Device],
    processes: int,
) -> Generator[Found, None, None]:
    """Outcomes as they come, in this process when they are few."""
    if processes < 2 or len(work) < _FEW:
        for item in work:
            yield _of_chunk(kernel, devices, [item])
        return
    chunks = [work[start : start + _CHUNK] for start in range(0, len(work), _CHUNK)]
    # "spawn": forked threads of numba and of the engines would hang
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (kernel, tuple(devices)))
    try:
        for done in as_completed([pool.submit(_of_worker, chunk) for chunk in chunks]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


_WORKER: dict[str, tuple[RankedKernel, Sequence[Device]]] = {}


def _begin(kernel: RankedKernel, devices: Sequence[Device]) -> None:
    """A worker gets the kernel once; an interrupt is its parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _WORKER["work"] = kernel, devices


def _of_worker(chunk: Chunk) -> Found:
    return _of_chunk(*_WORKER["work"], chunk)


def _of_chunk(kernel: RankedKernel, devices: Sequence[Device], chunk: Chunk) -> Found:
    found: Found = []
    for item, numbers in chunk:
        outcomes = kernel.outcomes(item, [devices[number] for number in numbers])
        found += [(item, number, made) for number, made in zip(numbers, outcomes, strict=True)]
    return found
