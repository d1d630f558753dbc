"""How long an engine takes for the benchmark kernels, beside C and beside the reference engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from c_twins import CTwins
from kernel_cases import KernelCase
from native_code import native_kernel
from problem import Problem
from targets import Target
from timing import geometric_mean, interleaved, table

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel

__all__ = ["KernelTimer", "KernelTiming", "kernel_table", "kernel_targets", "reference_table"]

_ARCHITECTURE = "sm_80"
_WARM_UP_S, _QUICK_WARM_UP_S = 2.0, 0.2


@dataclass(frozen=True, slots=True)
class KernelTiming:
    """Seconds are wall time of two threads, `counters_core_s` the core time of both together.

    `simulation` includes counters, `simulation_core_s` is its core time beside `twin_core_s`, and
    with `paths` the paths of warps were recorded as well, which the simulation of time needs.
    `native_s`: counters only, of machine code, None where none can be made. `reference_*` were
    measured at `reference_size`, as were `counters_there_s` and
    `simulation_there_s` of the engine under test.
    """

    kernel: str
    size: int
    worst_ratio: float
    thread_instructions: int
    twin_s: float
    twin_core_s: float
    counters_s: float
    counters_core_s: float
    simulation_s: float
    simulation_core_s: float
    paths_s: float
    native_s: float | None
    reference_size: int
    reference_counters_s: float
    reference_simulation_s: float
    counters_there_s: float
    simulation_there_s: float

    @property
    def counters_ratio(self) -> float:
        """The time with counters over the time of C."""
        return self.counters_s / self.twin_s

    @property
    def counters_core_ratio(self) -> float:
        """The core time with counters over the core time of C."""
        return self.counters_core_s / self.twin_core_s

    @property
    def native_ratio(self) -> float | None:
        """The time of machine code with counters over the time of C."""
        return None if self.native_s is None else self.native_s / self.twin_s

    @property
    def simulation_ratio(self) -> float:
        """The time with simulated memory over the time of C."""
        return self.simulation_s / self.twin_s

    @property
    def simulation_core_ratio(self) -> float:
        """The core time with simulated memory over the core time of C."""
        return self.simulation_core_s / self.twin_core_s

    @property
    def paths_ratio(self) -> float:
        """The time with simulated memory and recorded paths over the time of C."""
        return self.paths_s / self.twin_s

    @property
    def counters_speedup(self) -> float:
        """The speed-up over the reference engine, with counters only."""
        return self.reference_counters_s / self.counters_there_s

    @property
    def simulation_speedup(self) -> float:
        """The speed-up over the reference engine, with simulated memory."""
        return self.reference_simulation_s / self.simulation_there_s

    @property
    def limit(self) -> Target:
        """How much longer than the twin the engine may take for this kernel."""
        return Target(f"counters / C, {self.kernel}", self.counters_ratio, self.worst_ratio)

    def record(self) -> dict[str, Any]:
        """The timing with its ratios as a record."""
        return asdict(self) | {
            "counters_ratio": self.counters_ratio,
            "counters_core_ratio": self.counters_core_ratio,
            "native_ratio": self.native_ratio,
            "simulation_ratio": self.simulation_ratio,
            "simulation_core_ratio": self.simulation_core_ratio,
            "paths_ratio": self.paths_ratio,
            "counters_speedup": self.counters_speedup,
            "simulation_speedup": self.simulation_speedup,
        }


def _simulate(
    kernel: RunnableKernel,
    problem: Problem,
    engine: str,
    device: kc.Device,
    *,
    record_paths: bool = False,
) -> kc.KernelProfile:
    trace = problem.run(kernel, engine, device, record_paths=record_paths)
    return trace.profile(device)


@dataclass(frozen=True)
class KernelTimer:
    """Times `engine`; `quick` takes the reference engine's sizes for all and smaller ones for it.

    KernelcastError when the engine or a twin computes something else than NumPy.
    """

    engine: str
    twins: CTwins
    device: kc.Device
    repeats: int
    quick: bool = False

    def measure(self, case: KernelCase) -> KernelTiming:
        """Times one kernel at both sizes, after its results have been checked."""
        kernel = case.kernel()
        size, reference_size = (
            (case.reference, case.small) if self.quick else (case.full, case.reference)
        )
        problem = case.make(size)
        instructions = self._check(case, kernel, problem)
        here = interleaved(
            {
                "twin": self.twins.prepare(case.name, problem.arguments),
                **self._engine_calls(kernel, problem, self.engine),
                **self._native_call(case, problem),
                "paths": partial(
                    _simulate, kernel, problem, self.engine, self.device, record_paths=True
                ),
            },
            self.repeats,
        )
        problem = case.make(reference_size)
        there = interleaved(
            {
                f"{engine} {name}": call
                for engine in dict.fromkeys((self.engine, "reference"))
                for name, call in self._engine_calls(kernel, problem, engine).items()
            },
            self.repeats,
        )
        return KernelTiming(
            kernel=case.name,
            size=size,
            worst_ratio=case.worst_ratio,
            thread_instructions=instructions,
            twin_s=here["twin"].wall_s,
            twin_core_s=here["twin"].core_s,
            counters_s=here["counters"].wall_s,
            counters_core_s=here["counters"].core_s,
            simulation_s=here["simulation"].wall_s,
            simulation_core_s=here["simulation"].core_s,
            paths_s=here["paths"].wall_s,
            native_s=here["native"].wall_s if "native" in here else None,
            reference_size=reference_size,
            reference_counters_s=there["reference counters"].wall_s,
            reference_simulation_s=there["reference simulation"].wall_s,
            counters_there_s=there[f"{self.engine} counters"].wall_s,
            simulation_there_s=there[f"{self.engine} simulation"].wall_s,
        )

    def _engine_calls(
        self, kernel: RunnableKernel, problem: Problem, engine: str
    ) -> dict[str, Callable[[], object]]:
        return {
            "counters": partial(problem.run, kernel, engine),
            "simulation": partial(_simulate, kernel, problem, engine, self.device),
        }

    def _native_call(self, case: KernelCase, problem: Problem) -> dict[str, Callable[[], object]]:
        """Machine code with counters, after a warm-up; nothing where it cannot be made."""
        try:
            native = native_kernel(case, _ARCHITECTURE)
        except kc.KernelcastError:
            return {}
        call = partial(problem.run, native, self.engine)
        until = time.perf_counter() + (_QUICK_WARM_UP_S if self.quick else _WARM_UP_S)
        while time.perf_counter() < until:
            call()
        return {"native": call}

    def _check(self, case: KernelCase, kernel: RunnableKernel, problem: Problem) -> int:
        """Engine and twin must compute what NumPy does; the kernel's thread-instructions."""
        by_twin, by_engine = problem.with_fresh_output(), problem.with_fresh_output()
        self.twins.prepare(case.name, by_twin.arguments)()
        if not by_twin.is_solved():
            raise kc.KernelcastError(
                f"the C twin of {case.name} computes something else than NumPy"
            )
        trace = by_engine.run(kernel, self.engine)
        if not by_engine.is_solved():
            raise kc.KernelcastError(f"{case.name} computes something else than NumPy")
        _, lane_executions = trace.data.classes.totals()
        return int(lane_executions.sum())


def kernel_table(timings: Sequence[KernelTiming]) -> str:
    """One row a kernel, times in ms; "/ C" is over the twin, "limit" what counters may take.

    "Core / C" is core time over core time, "native / C" machine code with counters, "paths / C"
    with recorded paths.
    """
    head = (
        *("kernel", "size", "C ms", "counters ms", "/ C", "core / C", "native / C", "limit", ""),
        *("simulated ms", "/ C", "core / C", "paths / C", "G instr/s"),
    )
    rows = [
        (
            item.kernel,
            str(item.size),
            _ms(item.twin_s),
            _ms(item.counters_s),
            f"{item.counters_ratio:.2f}",
            f"{item.counters_core_ratio:.2f}",
            "" if item.native_ratio is None else f"{item.native_ratio:.2f}",
            f"{item.worst_ratio:g}",
            item.limit.verdict,
            _ms(item.simulation_s),
            f"{item.simulation_ratio:.2f}",
            f"{item.simulation_core_ratio:.2f}",
            f"{item.paths_ratio:.2f}",
            f"{item.thread_instructions / item.counters_s / 1e9:.2f}",
        )
        for item in timings
    ]
    return table(head, rows)


def reference_table(timings: Sequence[KernelTiming]) -> str:
    """One row a kernel, times in ms of both engines at the same size: counters, then simulated."""
    times = ("reference ms", "engine ms", "ratio")
    rows = [
        (
            item.kernel,
            str(item.reference_size),
            _ms(item.reference_counters_s),
            _ms(item.counters_there_s),
            f"{item.counters_speedup:.1f}",
            _ms(item.reference_simulation_s),
            _ms(item.simulation_there_s),
            f"{item.simulation_speedup:.1f}",
        )
        for item in timings
    ]
    return table(("kernel", "size", *times, *(f"sim. {name}" for name in times)), rows)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}"


def kernel_targets(timings: Sequence[KernelTiming]) -> list[Target]:
    """Geometric means and, beside the C twins, the kernel that is farthest from its limit."""
    worst = max(timings, key=lambda item: item.counters_ratio / item.worst_ratio)
    mean = geometric_mean
    native = [t.native_ratio for t in timings if t.native_ratio is not None]
    return [
        Target("counters / C, geometric mean", mean([t.counters_ratio for t in timings]), 1.5),
        Target(
            "counters / C, core time, geometric mean",
            mean([t.counters_core_ratio for t in timings]),
            None,
        ),
        Target("native counters / C, geometric mean", mean(native) if native else None, None),
        Target(f"counters / C, worst ({worst.kernel})", worst.counters_ratio, worst.worst_ratio),
        Target("simulation / C, geometric mean", mean([t.simulation_ratio for t in timings]), 6.0),
        Target(
            "simulation / C, core time, geometric mean",
            mean([t.simulation_core_ratio for t in timings]),
            None,
        ),
        Target(
            "simulation with paths / C, geometric mean",
            mean([t.paths_ratio for t in timings]),
            None,
        ),
        Target(
            "reference / counters, geometric mean",
            mean([t.counters_speedup for t in timings]),
            15.0,
            at_least=True,
        ),
        Target(
            "reference / simulation, geometric mean",
            mean([t.simulation_speedup for t in timings]),
            10.0,
            at_least=True,
        ),
    ]
