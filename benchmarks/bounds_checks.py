"""What checking bounds and alignment costs: the JIT engine beside itself without checks.

The engine has no switch for it. A process of its own takes the checks out of the code generator: it
keeps its objects apart, so that unchecked code reaches no cache, and a crash ends nothing else. The
arrays have room before and behind them, because vectors reach a few lanes beyond. Run as a script,
this file is one of the two processes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kernel_cases import CASES, KernelCase
from targets import Target
from timing import geometric_mean, isolated_environment, table

import kernelcast as kc

if TYPE_CHECKING:
    from kernelcast.simcore.engine.jit.codegen.memory.access_checks import (
        AccessChecks,
        Lanes,
        Region,
    )

__all__ = ["ENGINE", "CheckTiming", "check_table", "check_target", "measure_checks"]

ENGINE = "jit"
_MOST = 1.3


@dataclass(frozen=True, slots=True)
class CheckTiming:
    """Wall seconds, counters only; None where the engine without checks failed."""

    kernel: str
    size: int
    checked_s: float
    unchecked_s: float | None

    @property
    def ratio(self) -> float | None:
        """The time with checks over the time without; None where that is unknown."""
        return None if self.unchecked_s is None else self.checked_s / self.unchecked_s

    def record(self) -> dict[str, Any]:
        """The timing as a record."""
        return asdict(self) | {"ratio": self.ratio}


class _Runner:
    """A process that runs kernels when told to, with or without checks."""

    def __init__(self, mode: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=isolated_environment(folder / mode),
        )

    def __enter__(self) -> _Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()

    def seconds(self, case: KernelCase, size: int) -> float | None:
        """Seconds of one run; None when the process has ended or the result is wrong."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{case.name} {size}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        answer = self._process.stdout.readline().strip()
        return float(answer) if answer else None


def measure_checks(
    cases: Sequence[KernelCase], quick: bool, folder: Path, repeats: int
) -> list[CheckTiming]:
    """Medians of `repeats` after a warm-up; the two processes take turns."""
    found = []
    for case in cases:
        size = case.reference if quick else case.full
        with _Runner("checked", folder) as checked, _Runner("unchecked", folder) as unchecked:
            rounds = [
                (checked.seconds(case, size), unchecked.seconds(case, size))
                for _ in range(repeats + 1)
            ][1:]
        with_checks = [seconds for seconds, _ in rounds if seconds is not None]
        without = [seconds for _, seconds in rounds if seconds is not None]
        if len(with_checks) < repeats:
            raise kc.KernelcastError(f"{case.name} does not run in a process of its own")
        median = statistics.median(without) if len(without) == repeats else None
        found.append(CheckTiming(case.name, size, statistics.median(with_checks), median))
    return found


def check_table(timings: Sequence[CheckTiming]) -> str:
    """The timings with and without checks as a table."""
    rows = [
        (
            item.kernel,
            str(item.size),
            f"{1e3 * item.checked_s:.1f}",
            "" if item.unchecked_s is None else f"{1e3 * item.unchecked_s:.1f}",
            "not measured" if item.ratio is None else f"{item.ratio:.2f}",
        )
        for item in timings
    ]
    return table(("kernel", "size", "checked ms", "unchecked ms", "ratio"), rows)


def check_target(timings: Sequence[CheckTiming]) -> Target:
    """Not measured as long as one kernel is not."""
    ratios = [item.ratio for item in timings if item.ratio is not None]
    mean = geometric_mean(ratios) if ratios and len(ratios) == len(timings) else None
    return Target("with bounds checks / without, geometric mean", mean, _MOST)


def leave_out_checks() -> list[str]:
    """Makes the engine generate code without checks from now on.

    The list that it returns grows with each check that is left out.
    """
    from kernelcast.simcore.engine.jit.codegen.memory.access_checks import AccessChecks

    left_out: list[str] = []

    def go_on(
        checks: AccessChecks,
        region: Region,
        lanes: Lanes,
        total: int,
        mask: str,
        slow: str,
        size: str,
    ) -> None:
        warp = checks._warp
        fast = warp.labels("fast")[0]
        warp.scalar.do(f"br label %{fast}")
        warp.label(fast)
        left_out.append(region.key)

    AccessChecks.check = go_on  # type: ignore[assignment, method-assign]
    return left_out


def _serve(mode: str) -> None:
    """Answers lines `kernel size` with seconds; an empty line for a wrong result."""
    left_out = leave_out_checks() if mode == "unchecked" else None
    cases = {case.name: case for case in CASES}
    ready: dict[str, Any] = {}
    for line in sys.stdin:
        name, size = line.split()
        if line not in ready:
            problem, kernel = cases[name].make(int(size)).padded(), cases[name].kernel()
            problem.run(kernel, ENGINE)
            if left_out is not None and not left_out:
                raise RuntimeError(f"no check was left out of {name}")
            ready[line] = (problem, kernel) if problem.is_solved() else None
        answer = ""
        if ready[line] is not None:
            problem, kernel = ready[line]
            before = time.perf_counter()
            problem.run(kernel, ENGINE)
            answer = str(time.perf_counter() - before)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
