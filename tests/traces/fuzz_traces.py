"""Forged traces, each shown and estimated by all models: a result or one clear error.

As a script, `fuzz_traces.py COUNT [SEED]` forges COUNT of them and shows what escaped. It compiles
machine code that checks bounds, so that an index that is out of range shows.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # before numba is imported
    os.environ["NUMBA_BOUNDSCHECK"] = "1"
    os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / "kernelcast-checks-bounds")

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.execution.instruction_mix import instruction_mix
from kernelcast.models import MODELS
from kernelcast.report.traces import trace_record
from tests.traces.forged_traces import forge

__all__ = ["DEVICES", "Report", "fuzz", "record_sources"]

DEVICES = ("a100-40gb", "gtx-480")
SLOW_SECONDS = 20.0
_SOURCES = Path(__file__).resolve().parents[2]
_WORKLOADS = (
    "examples/saxpy/saxpy.toml",
    "examples/sgemm/sgemm16.toml",
    "examples/divergent/divergent.toml",
)


@dataclass
class Report:
    """What became of all forgeries."""

    outcomes: Counter[str] = field(default_factory=Counter)
    escapes: list[str] = field(default_factory=list)


def record_sources(folder: Path) -> list[Path]:
    """Sound traces to forge others from."""
    found = []
    for name in _WORKLOADS:
        workload = kc.load_workload(_SOURCES / name)
        target = folder / f"{Path(name).stem}.parquet"
        kc.save_trace(workload.run("small", warp_width=32, record_paths=True), target)
        found.append(target)
    return found


def fuzz(sources: list[Path], folder: Path, seeds: range) -> Report:
    report = Report()
    for source in sources:  # simulators are compiled before any time is taken
        _outcome(source, Report(), 0)
    for seed in seeds:
        target = folder / "forged.parquet"
        forge(sources[seed % len(sources)], target, seed)
        begin = time.process_time()
        outcome = _outcome(target, report, seed)
        if time.process_time() - begin > SLOW_SECONDS:
            report.escapes.append(f"seed {seed}: {outcome} after {SLOW_SECONDS:g} s")
        report.outcomes[outcome] += 1
    return report


def _outcome(path: Path, report: Report, seed: int) -> str:
    try:
        trace = kc.load_trace(path)
    except KernelcastError as error:
        _look_at(str(error), report, seed)
        return "refused"
    except Exception:
        report.escapes.append(f"seed {seed}: {traceback.format_exc()}")
        return "escaped"
    outcome = "used"
    for use in _uses(trace):
        try:
            use()
        except KernelcastError as error:
            _look_at(str(error), report, seed)
            outcome = "refused later"
        except Exception:
            report.escapes.append(f"seed {seed}: {traceback.format_exc()}")
            return "escaped"
    return outcome


def _uses(trace: kc.KernelTrace) -> Iterator[Callable[[], object]]:
    """What commands make of a trace."""
    yield lambda: trace_record(trace)
    yield lambda: instruction_mix(trace.data)
    for device in DEVICES:
        profile: list[kc.KernelProfile] = []
        yield partial(_profile, trace, device, profile)
        for model in MODELS:
            if profile:
                yield partial(kc.estimate, profile[0], model, device)
    yield lambda: kc.topdown(trace, DEVICES[0])


def _profile(trace: kc.KernelTrace, device: str, found: list[kc.KernelProfile]) -> None:
    found.append(trace.profile(device))


def _look_at(message: str, report: Report, seed: int) -> None:
    if not message or "\n" in message or not message.isprintable():
        report.escapes.append(f"seed {seed}: the message is {message!r}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        seeds = range(first, first + int(sys.argv[1]))
        found = fuzz(record_sources(Path(name)), Path(name), seeds)
        sys.stdout.write("\n".join([*found.escapes, str(dict(found.outcomes))]) + "\n")
        sys.exit(bool(found.escapes))
