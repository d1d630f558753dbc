"""What requests wait at DRAM, fitted to micro-kernels: seven facts of a device file.

`validation/microkernels/latencies.cu` asks for 1 to 32 lines at random places, one request after
the other, beside reads and copies of other SMs. A request waits for the last of its lines, whose
times are of Gumbel's distribution, so that the latest of n of them is later by the logarithm of n.
Mean and variance grow with the requests in the queue, load / (1 - load); beside copies the mean
grows with the load, too. Squares of relative errors are as small as they get; those of standard
deviations count less.

    python validation/request_latencies.py h200
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from kernelcast.simcore.device.device import Device  # noqa: E402
from kernelcast.simcore.device.file import load_device  # noqa: E402

_TABLES = _ROOT / "validation" / "measured" / "microkernels"
_SCALE = math.sqrt(6.0) / math.pi
_MOST_BUSY, _FULL = 0.95, 0.97
_LINES = (1, 2, 4, 8)
_OF_DEVIATION = 0.3
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of [timing], in cycles."""

    dram_latency_cycles: float
    dram_queue_cycles: float
    dram_queue_deviation_cycles: float
    dram_latency_deviation_cycles: float
    dram_mixed_queue_cycles: float
    dram_mixed_deviation_cycles: float
    dram_turn_cycles: float


@dataclass(frozen=True, slots=True)
class Point:
    """Requests for so many lines beside others, which made DRAM so busy; cycles."""

    is_mixed: bool
    lines: int
    load: float
    mean: float
    deviation: float


def expected(facts: Facts, point: Point) -> tuple[float, float]:
    """Mean and standard deviation of the requests of a point, in cycles."""
    busy = min(point.load, _MOST_BUSY)
    others = busy / (1.0 - busy)
    mean, deviation = facts.dram_latency_cycles, facts.dram_queue_deviation_cycles
    if point.is_mixed:
        mean += facts.dram_turn_cycles * point.load + facts.dram_mixed_queue_cycles * others
        deviation = facts.dram_mixed_deviation_cycles
    else:
        mean += facts.dram_queue_cycles * others
    spread = math.sqrt(facts.dram_latency_deviation_cycles**2 + deviation**2 * others)
    return mean + _SCALE * spread * math.log(point.lines), spread


def points(table: Path, device: Device) -> list[Point]:
    """What was measured where DRAM was not quite full; loads are shares of what is attainable."""
    assert device.timing is not None
    reads = device.dram.bandwidth_bytes_per_s * device.timing.dram_efficiency
    copies = reads * device.timing.dram_mixed_efficiency
    found: dict[tuple[str, ...], dict[str, float]] = {}
    with table.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            *settings, what = row["settings"].split()
            if row["name"] == "beside" and settings[0].startswith("lines="):
                found.setdefault(tuple(settings), {})[what] = float(row["value"])
    result = []
    for (lines, others, *_), values in found.items():
        is_mixed, number = others == "others=copy", int(lines.removeprefix("lines="))
        load = values["others_moved"] / (copies if is_mixed else reads)
        if load < _FULL and number in _LINES:
            result.append(Point(is_mixed, number, load, values["mean"], values["deviation"]))
    return result


def fitted(measured: Sequence[Point]) -> Facts:
    """The facts of the least squares of relative errors."""

    def errors(values: Floats) -> list[float]:
        facts, found = Facts(*values.tolist()), []
        for point in measured:
            mean, deviation = expected(facts, point)
            found.append(mean / point.mean - 1.0)
            if point.lines == 1:
                found.append(_OF_DEVIATION * (deviation / point.deviation - 1.0))
        return found

    start = np.array([700.0, 40.0, 120.0, 120.0, 40.0, 200.0, 300.0])
    return Facts(*least_squares(errors, start, x_scale=start).x.tolist())


def mean_error(facts: Facts, measured: Sequence[Point]) -> float:
    """Mean relative error of the means."""
    return float(np.mean([abs(expected(facts, p)[0] / p.mean - 1.0) for p in measured]))


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the facts, and how far off they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("device", help="such as h200, with a table in measured/microkernels")
    name = parser.parse_args(argv).device
    measured = points(_TABLES / name / "latencies.csv", load_device(name))
    facts = fitted(measured)
    for item in fields(facts):
        sys.stdout.write(f"{item.name} = {getattr(facts, item.name):.0f}\n")
    error = mean_error(facts, measured)
    sys.stdout.write(f"{len(measured)} means, {100 * error:.1f} % off in the mean\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
