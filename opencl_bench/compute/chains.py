"""Launches of chains of operations, verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.compute.operations import SEEDS, Operation, States
from kernelcast.opencl_bench.compute.timing import EFFORTS, Seconds, long_enough
from kernelcast.opencl_bench.compute.verification import check_words
from kernelcast.opencl_bench.target import DeviceFacts, Feature, Target

__all__ = ["FILE", "ChainLaunch", "ChainSetting", "chain_settings", "settings_for"]

FILE = "arithmetic.cl"
_CPU_STEPS, _GPU_STEPS = 4, 32
_CPU_LATENCY_STEPS, _GPU_LATENCY_STEPS = 16, 64
"""An unrolled loop body so long that the loop's own instructions do not matter; a CPU, which does
them beside the chains, needs less."""
_FUNCTION_CHAINS = 2
_FUNCTION_STEPS = 4
_FUNCTION_LATENCY_STEPS = 16

_VECTOR_BYTES = 4
"""A GPU's work-item computes with scalars, and with pairs of halves."""
_LARGEST_VECTOR = 16
_GPU_WORK_GROUP = 256
_CPU_GROUPS_PER_UNIT, _GPU_GROUPS_PER_UNIT = 32, 8
_GUESSED_LANES = 128
"""Operations per clock of a compute unit, for a first guess of how long to run."""
_PROBE, _FUNCTION_PROBE = 1 / 8, 1 / 128


@dataclass(frozen=True, slots=True)
class ChainSetting:
    """How a device is kept busy.

    Vectors of a work-item, its chains, operations of each in a loop body, work-items of a work-
    group.
    """

    vector_bytes: int
    chains: int
    steps: int
    work_group: int

    def lanes(self, item_bytes: int) -> int:
        """Components of a vector of items of that size."""
        return max(1, min(_LARGEST_VECTOR, self.vector_bytes // item_bytes))

    def defines(self, facts: DeviceFacts, functions: bool = False) -> Mapping[str, object]:
        """Macros of the program with the functions, or of the one with all else."""
        features = {Feature.FP64: "HAS_FP64", Feature.FP16: "HAS_FP16"}
        return {
            "CHAINS": self.chains,
            "SEEDS": SEEDS,
            "STEPS": self.steps,
            "LATENCY_STEPS": _latency_steps(facts),
            "FUNCTION_CHAINS": _FUNCTION_CHAINS,
            "FUNCTION_STEPS": _FUNCTION_STEPS,
            "FUNCTION_LATENCY_STEPS": _FUNCTION_LATENCY_STEPS,
            **{f"LANES_{8 * size}": self._suffix(size) for size in (2, 4, 8)},
            **{name: 1 for feature, name in features.items() if feature in facts.features},
            **({"IS_CPU": 1} if facts.is_cpu else {}),
            **({"FUNCTIONS": 1} if functions else {}),
        }

    def _suffix(self, item_bytes: int) -> str:
        lanes = self.lanes(item_bytes)
        return "" if lanes == 1 else str(lanes)


def chain_settings(facts: DeviceFacts, effort: Effort) -> tuple[ChainSetting, ...]:
    """What to try, the most promising first; a quick session tries only that one.

    A CPU's work-item computes with whole SIMD registers; on a GPU many work-items do.
    """
    if facts.is_cpu:
        vector = 4 * max(4, min(_LARGEST_VECTOR, facts.llvm_float_width))
        shapes = ((vector, 12), (vector, 8), (vector, 16), (_VECTOR_BYTES, 12))
        settings = tuple(ChainSetting(*shape, _CPU_STEPS, 1) for shape in shapes)
    else:
        group = min(_GPU_WORK_GROUP, facts.max_work_group)
        settings = tuple(
            ChainSetting(_VECTOR_BYTES, chains, _GPU_STEPS, group) for chains in (8, 4, 2)
        )
    return settings if effort is Effort.FULL else settings[:1]


def _latency_steps(facts: DeviceFacts) -> int:
    return _CPU_LATENCY_STEPS if facts.is_cpu else _GPU_LATENCY_STEPS


def settings_for(
    operation: Operation, facts: DeviceFacts, effort: Effort
) -> tuple[ChainSetting, ...]:
    """The settings that make a difference: functions have chains of their own."""
    settings = chain_settings(facts, effort)
    if not operation.is_function:
        return settings
    by_shape = {(item.vector_bytes, item.work_group): item for item in reversed(settings)}
    return tuple(item for item in settings if item in by_shape.values())


@dataclass(frozen=True, slots=True)
class ChainLaunch:
    """`work_groups` of `work_group` work-items, each with `chains` chains of vectors."""

    operation: Operation
    kernel: str
    defines: Mapping[str, object]
    lanes: int
    chains: int
    steps: int
    work_group: int
    work_groups: int
    extra_arguments: tuple[int, ...] = ()

    @classmethod
    def throughput(
        cls,
        operation: Operation,
        setting: ChainSetting,
        facts: DeviceFacts,
        work_groups: int | None = None,
    ) -> ChainLaunch:
        """Enough work-groups for all compute units unless their number is given."""
        per_unit = _CPU_GROUPS_PER_UNIT if facts.is_cpu else _GPU_GROUPS_PER_UNIT
        return cls(
            operation,
            operation.throughput_kernel,
            setting.defines(facts, operation.is_function),
            setting.lanes(operation.seeds.itemsize),
            _FUNCTION_CHAINS if operation.is_function else setting.chains,
            _FUNCTION_STEPS if operation.is_function else setting.steps,
            setting.work_group,
            work_groups or per_unit * facts.compute_units,
        )

    @classmethod
    def latency(
        cls,
        operation: Operation,
        setting: ChainSetting,
        facts: DeviceFacts,
        work_group: int = 1,
        work_groups: int = 1,
    ) -> ChainLaunch:
        """One chain of scalars in each work-item; of one work-item unless said otherwise."""
        defines = setting.defines(facts, operation.is_function)
        kernel = operation.latency_kernel
        steps = _FUNCTION_LATENCY_STEPS if operation.is_function else _latency_steps(facts)
        return cls(operation, kernel, defines, 1, 1, steps, work_group, work_groups)

    @classmethod
    def fp32_chains(
        cls,
        operation: Operation,
        setting: ChainSetting,
        facts: DeviceFacts,
        chains: int,
        work_group: int,
    ) -> ChainLaunch:
        """fp32 multiply-adds with 1 to 8 chains, a work-group on each compute unit."""
        return cls(
            operation,
            f"{operation.name}_chains_{chains}",
            setting.defines(facts),
            setting.lanes(operation.seeds.itemsize),
            chains,
            setting.steps,
            work_group,
            facts.compute_units,
        )

    @classmethod
    def divergent(
        cls,
        operation: Operation,
        setting: ChainSetting,
        facts: DeviceFacts,
        run: int,
        work_group: int,
    ) -> ChainLaunch:
        """fp32 multiply-adds in two branches, which runs of `run` work-items take by turns."""
        return cls(
            operation,
            f"{operation.name}_divergent",
            setting.defines(facts),
            1,
            1,
            setting.steps,
            work_group,
            _GPU_GROUPS_PER_UNIT * facts.compute_units,
            (run,),
        )

    @property
    def work_items(self) -> int:
        """Work-items of the launch."""
        return self.work_group * self.work_groups

    @property
    def operations_per_iteration(self) -> int:
        """Operations of all work-items in one iteration."""
        return self.work_items * self.lanes * self.chains * self.steps * self.operation.counted

    def throughputs(self, target: Target, effort: Effort) -> Sequence[float]:
        """Operations per second of each repetition."""
        iterations, seconds = self._measure(target, effort)
        return list(self.operations_per_iteration * iterations / seconds)

    def latencies(self, target: Target, effort: Effort) -> Sequence[float]:
        """Seconds from an operation to the one that needs its result, of each repetition."""
        iterations, seconds = self._measure(target, effort)
        return list(seconds / (self.steps * self.operation.dependent * iterations))

    def verify(self, sums: States, iterations: int) -> None:
        """Raises BenchmarkError when a chain did not end where NumPy's does."""
        x, y = self.operation.end_states(self.steps * iterations)
        ends = x + y
        if ends.dtype.kind == "f":
            ends = ends.astype(np.float64)
        of_seed = sum((np.roll(ends, -chain) for chain in range(1, self.chains)), start=ends)
        expected = of_seed[np.arange(self.work_items) % SEEDS, np.newaxis]
        check_words(self.kernel, sums, expected, self.operation.tolerance)

    def _measure(self, target: Target, effort: Effort) -> tuple[int, Seconds]:
        operation = self.operation
        kernel = target.kernel(FILE, self.kernel, self.defines)
        seeds, operands = target.buffer(operation.seeds), target.buffer(operation.operands)
        shape = np.zeros((self.work_items, self.lanes), operation.seeds.dtype)
        sums = target.buffer(shape)

        def run(iterations: int, repeats: int) -> Seconds:
            numbers = (np.uint32(number) for number in (iterations, *self.extra_arguments))
            arguments = (seeds, operands, sums, *numbers)
            sizes = (self.work_items,), (self.work_group,)
            seconds = target.seconds(kernel, *sizes, arguments, repeats)
            self.verify(target.read(sums, shape), iterations)
            return seconds

        return long_enough(run, self._first_guess(target.facts, effort), effort)

    def _first_guess(self, facts: DeviceFacts, effort: Effort) -> int:
        """Iterations that a fast operation does in a part of the time: slow ones then fit too.

        A CPU runs the work-items of a work-group one after another.
        """
        units = min(facts.compute_units, self.work_groups)
        a_clock = 2 * facts.llvm_float_width if facts.is_cpu else _GUESSED_LANES
        items = self.work_items * self.lanes * self.chains
        dependent = 4 * (self.work_items / units if facts.is_cpu else 1)
        clocks = max(items / (units * a_clock), dependent) * self.steps
        probe = _FUNCTION_PROBE if self.operation.is_function else _PROBE
        return int(probe * EFFORTS[effort].launch_s * facts.clock_hz / clocks)
