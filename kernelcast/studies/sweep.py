"""`kc.Sweep`: a plan that runs, and what it left."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

from kernelcast.progress import StageProgress
from kernelcast.studies.data_set import SweepResult, read_result
from kernelcast.studies.forecast import Forecast, forecast
from kernelcast.studies.plan import Plan
from kernelcast.studies.plan_file import read_plan
from kernelcast.studies.running import run_plan

__all__ = ["Sweep"]


@dataclass(frozen=True)
class Sweep(Plan):
    """A plan with what is done with it: `run`, `forecast`; `Sweep.read` takes a plan file."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Sweep:
        """The sweep of a plan file (docs/sweep.md); KernelcastError with file and key."""
        plan = read_plan(Path(path))
        return cls(**{item.name: getattr(plan, item.name) for item in fields(plan)})

    @staticmethod
    def results(folder: str | os.PathLike[str]) -> SweepResult:
        """What a finished sweep has left in a folder; InputError where it is not finished."""
        return read_result(folder)

    def run(
        self,
        folder: str | os.PathLike[str],
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        progress: StageProgress | None = None,
    ) -> SweepResult:
        """Computes what is not yet in `folder`, a Parquet data set, and returns all of it.

        In `jobs` processes, by default one for each core, or by the workers of the Dask cluster at
        `scheduler`. `progress` is told the state in words and the share that is done. With several
        processes the caller's main module must be importable, as multiprocessing wants.
        InputError when the folder holds another sweep or cannot be written.
        """
        return run_plan(self, Path(folder), jobs, scheduler, progress)

    def forecast(self, folder: str | os.PathLike[str] | None = None) -> Forecast:
        """How much there is to do, and for how long, without doing it."""
        return forecast(self, None if folder is None else Path(folder))
