"""A workload: a kernel, its launch and its arguments for named problem sizes, and a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError, WorkloadError, nearest
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import resident_launch
from kernelcast.execution.run_options import RunKeywords, RunOptions
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.execution.sampling import Sampling
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.source_file import load_source
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch, dimensions
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.simcore.launch.textures import levels_of
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.workload.arguments import ArgumentSpec
from kernelcast.workload.expressions import evaluate_integer
from kernelcast.workload.image_arguments import AnyArgumentSpec
from kernelcast.workload.memory_snapshot import MemorySnapshot
from kernelcast.workload.python_functions import call, load_function
from kernelcast.workload.sparse_matrix import MatrixSpec
from kernelcast.workload.toml_table import Expression

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device

__all__ = [
    "BufferComparison",
    "CheckResult",
    "CheckSpec",
    "KernelSpec",
    "LaunchSpec",
    "Sizes",
    "Workload",
]

Sizes = Mapping[str, int]
_AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """`entry` empty: the only kernel of the source. `registers` per thread, when known."""

    source: Path
    entry: str
    registers: int | None
    compilation: CompilerOptions = field(default_factory=CompilerOptions)

    def load(self) -> RunnableKernel:
        """Loads the kernel; the errors of `load_source`, or of a missing entry."""
        module = load_source(self.source, self.compilation)
        return module[self.entry] if self.entry else module.only_kernel()


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Sizes as expressions: `extent` in thread blocks or threads; `repeats` launches are timed.

    `caches`: `cold` or `warm`, what each of them finds.
    """

    extent: tuple[Expression, ...]
    thread_block: tuple[Expression, ...]
    extent_is_threads: bool
    shared_bytes: Expression
    repeats: int
    where: str
    cluster: tuple[Expression, ...] = ()
    caches: str = "cold"


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """The reference `file.py:function`; |found - expected| <= atol + rtol |expected| must hold.
    Called with arguments before the launch and sizes, it returns expected arrays by argument."""

    reference: str
    rtol: float
    atol: float
    where: str


@dataclass(frozen=True, slots=True)
class BufferComparison:
    """One buffer against its reference; errors are the largest ones of any element."""

    name: str
    elements: int
    mismatches: int
    absolute_error: float
    relative_error: float


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The comparison of each buffer, and the trace of the run."""

    comparisons: tuple[BufferComparison, ...]
    trace: KernelTrace

    @property
    def passed(self) -> bool:
        """Whether every buffer equals its reference within the tolerance."""
        return not any(item.mismatches for item in self.comparisons)


@dataclass(frozen=True)
class Workload:
    """What a workload file says. `sizes` keeps the order of the file: the first is the default."""

    path: Path
    kernel: KernelSpec
    sizes: Mapping[str, Sizes]
    launch: LaunchSpec
    arguments: tuple[AnyArgumentSpec, ...]
    check: CheckSpec | None
    matrix: MatrixSpec | None = None
    memory: MemorySnapshot | None = None

    def size(self, name: str | None = None) -> Sizes:
        """The sizes called `name`, by default the file's first ones, and those of the matrix."""
        sizes = self._given_size(name)
        return sizes if self.matrix is None else {**sizes, **self.matrix.stored(sizes).sizes}

    def _given_size(self, name: str | None) -> Sizes:
        if name is None:
            return next(iter(self.sizes.values()), {})
        if name not in self.sizes:
            known = f"; known: {', '.join(self.sizes)}" if self.sizes else ""
            raise WorkloadError(f"{self.path}: no size {name!r}{nearest(name, self.sizes)}{known}")
        return self.sizes[name]

    def load_kernel(self) -> RunnableKernel:
        """Loads the kernel of the workload."""
        return self.kernel.load()

    def make_arguments(self, size: str | None = None) -> tuple[Argument, ...]:
        """The arguments in order, with freshly filled buffers."""
        names = self._names(size)
        return tuple(
            argument.make_whole(names)
            if isinstance(argument, ArgumentSpec)
            else argument.make(names)
            for argument in self.arguments
        )

    def make_launch(
        self, size: str | None = None, *, lazy: bool = False, kernel: Kernel | None = None
    ) -> Launch:
        """Makes grid, thread block and freshly filled arguments, `lazy` ones when they are needed.
        WorkloadError or LaunchError where they do not fit the kernel, loaded if need be."""
        names, kernel = self._names(size), kernel or self.load_kernel().kernel
        self._check_widths(kernel)
        launch = Launch(
            grid=dimensions(self._grid(names), "grid"),
            thread_block=dimensions(self._thread_block(names), "thread block"),
            arguments=self._made_when_used(names) if lazy else self.make_arguments(size),
            dynamic_shared_bytes=self._shared_bytes(names),
            registers=self.kernel.registers,
            cluster=dimensions(cluster, "cluster") if (cluster := self._cluster(names)) else None,
            argument_names=tuple(argument.name for argument in self.arguments),
        )
        launch.check(kernel)
        return launch

    def launch_shape(self, size: str | None = None) -> LaunchShape:
        """Grid and thread block, without kernel and arguments."""
        names = self._names(size)
        return LaunchShape(
            dimensions(self._grid(names), "grid"),
            dimensions(self._thread_block(names), "thread block"),
        )

    def run(
        self,
        size: str | None = None,
        *,
        arguments: tuple[Argument, ...] | None = None,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> KernelTrace:
        """Executes one launch; `arguments` as `make_arguments` gave them, else new ones.

        Without them an equal launch may come from the store. LaunchError where it does not fit.
        """
        chosen = RunOptions.of(self.run, options, keywords)
        if arguments is None and chosen.memory is None:
            chosen = replace(chosen, results=False)
        with time_limit(chosen.ends.seconds):
            names = self._names(size)
            kernel = self.load_kernel()
            self._check_widths(kernel.kernel)
            trace = kernel.run(
                grid=self._grid(names),
                block=self._thread_block(names),
                args=self._made_when_used(names) if arguments is None else arguments,
                shared_bytes=self._shared_bytes(names),
                options=self._completed(chosen, names, kernel),
            )
        return trace.repeated(self.launch.repeats)

    def _completed(
        self, options: RunOptions, names: Mapping[str, int], kernel: RunnableKernel
    ) -> RunOptions:
        """The options, with what the workload says of the launch where they do not."""
        if self.memory is not None:
            sampling = options.sampling
            options = replace(
                options,
                memory=options.memory or self.memory.memory(kernel),
                sampling=Sampling.NEVER if sampling is Sampling.AUTO else sampling,
            )
        return replace(
            options,
            cluster=options.cluster or self._cluster(names),
            source_registers=options.source_registers or self.kernel.registers,
            caches=options.caches or self.launch.caches,
            argument_names=options.argument_names or [item.name for item in self.arguments],
        )

    def refusal(self, device: Device, size: str | None = None, registers: int | None = None) -> str:
        """Why the launch does not fit the device; empty when it does."""
        names = self._names(size)
        launch = Launch(
            grid=dimensions(self._grid(names), "grid"),
            thread_block=dimensions(self._thread_block(names), "thread block"),
            arguments=self._made_when_used(names),
            dynamic_shared_bytes=self._shared_bytes(names),
            registers=registers or self.kernel.registers,
        )
        try:
            resident_launch(self.load_kernel().kernel, launch, device)
        except LaunchError as error:
            return error.message
        return ""

    def run_check(
        self,
        size: str | None = None,
        *,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> CheckResult:
        """Executes one launch, unsampled, and compares its buffers with the reference."""
        chosen = RunOptions.of(self.run_check, options, keywords)
        self._check_spec()
        arguments = self.make_arguments(size)
        found = {
            spec.name: _contents(item) for spec, item in zip(self.arguments, arguments, strict=True)
        }
        before = {
            name: item.copy() if isinstance(item, np.ndarray) else item
            for name, item in found.items()
        }
        executed = replace(chosen, record_memory=False, sampling=Sampling.NEVER)
        trace = self.run(size, arguments=arguments, options=executed)
        return CheckResult(self.compare(before, found, size), trace)

    def compare(
        self,
        before: Mapping[str, Argument],
        found: Mapping[str, Argument],
        size: str | None = None,
    ) -> tuple[BufferComparison, ...]:
        """The arguments after a launch against what the reference makes of those before it."""
        check = self._check_spec()
        reference = load_function(self.path.parent, check.reference, check.where)
        given = {name: _contents(item) for name, item in before.items()}
        expected = call(reference, check.where, given, dict(self.size(size)))
        if not isinstance(expected, Mapping) or not expected:
            raise WorkloadError(f"{check.where}: the reference must return arrays by name")
        left = {name: _contents(item) for name, item in found.items()}
        return tuple(
            _compare(check, str(name), left.get(name), _expected(check, name, array))
            for name, array in expected.items()
        )

    def _check_spec(self) -> CheckSpec:
        if self.check is None:
            raise WorkloadError(f"{self.path}: there is no [check] to compare with")
        return self.check

    def _shared_bytes(self, names: Mapping[str, int]) -> int:
        where = f"{self.launch.where}.shared_bytes"
        return evaluate_integer(self.launch.shared_bytes, names, where)

    def _cluster(self, names: Mapping[str, int]) -> tuple[int, ...] | None:
        where = f"{self.launch.where}.cluster"
        found = tuple(evaluate_integer(item, names, where) for item in self.launch.cluster)
        return found or None

    def _check_widths(self, kernel: Kernel) -> None:
        """A number must be as wide as the kernel's parameter: 3 is no pointer."""
        for argument, parameter in zip(self.arguments, kernel.parameters, strict=False):
            if not isinstance(argument, ArgumentSpec) or argument.shape is not None:
                continue
            element = argument.element
            if element is not None and element.bytes != parameter.size:
                raise WorkloadError(
                    f"{argument.where}.type: {element.ptx_name} has {element.bytes} bytes, the "
                    f"kernel's parameter {parameter.name} {parameter.size}"
                )

    def _names(self, size: str | None) -> dict[str, int]:
        """Sizes and `block.x`, `block.y`, `block.z`, `grid.x`, ... for expressions."""
        names = dict(self.size(size))
        names |= self._local_names(names)
        return names | _by_axis("grid", self._grid(names))

    def _local_names(self, names: Sizes) -> dict[str, int]:
        """`block.x`, ..., which OpenCL calls `local_size.x`."""
        thread_block = self._thread_block(names)
        found = _by_axis("block", thread_block)
        return found | (
            _by_axis("local_size", thread_block) if self.launch.extent_is_threads else {}
        )

    def _made_when_used(self, names: Sizes) -> tuple[Argument, ...]:
        return tuple(argument.make(names) for argument in self.arguments)

    def _thread_block(self, names: Sizes) -> tuple[int, ...]:
        key = "local_size" if self.launch.extent_is_threads else "block"
        where = f"{self.launch.where}.{key}"
        found = tuple(evaluate_integer(item, names, where) for item in self.launch.thread_block)
        dimensions(found, where)  # raises with the place
        return found

    def _grid(self, names: Sizes) -> tuple[int, ...]:
        launch = self.launch
        where = f"{launch.where}.{'global_size' if launch.extent_is_threads else 'grid'}"
        extent = tuple(evaluate_integer(item, names, where) for item in launch.extent)
        dimensions(extent, where)
        if not launch.extent_is_threads:
            return extent
        thread_block = self._thread_block(names)
        if len(thread_block) != len(extent) or any(
            local < 1 or items % local for items, local in zip(extent, thread_block, strict=True)
        ):
            raise WorkloadError(f"{where} {list(extent)} is no multiple of {list(thread_block)}")
        return tuple(items // local for items, local in zip(extent, thread_block, strict=True))


def _contents(argument: Argument) -> Argument:
    """The array behind what stands for one."""
    if isinstance(argument, TensorMap):
        return argument.array
    images = levels_of(argument)
    return images[0].texels if images else argument


def _by_axis(what: str, sizes: tuple[int, ...]) -> dict[str, int]:
    padded = (*sizes, 1, 1, 1)[: len(_AXES)]
    return {f"{what}.{axis}": size for axis, size in zip(_AXES, padded, strict=True)}


def _expected(check: CheckSpec, name: object, array: object) -> npt.NDArray[Any]:
    """The reference's array; WorkloadError unless it holds real numbers."""
    try:
        expected = np.asarray(array)
    except ValueError:  # rows of different lengths
        expected = np.empty(0, object)
    if expected.dtype.kind not in "biuf":
        raise WorkloadError(f"{check.where}: the reference of {name} holds no real numbers")
    return expected


def _compare(
    check: CheckSpec, name: str, found: Argument | None, expected: npt.NDArray[Any]
) -> BufferComparison:
    if not isinstance(found, np.ndarray):
        raise WorkloadError(f"{check.where}: the reference returns {name!r}, which is no buffer")
    if found.shape != expected.shape:
        raise WorkloadError(
            f"{check.where}: {name} has shape {found.shape}, its reference {expected.shape}"
        )
    difference = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    scale = np.abs(expected.astype(np.float64))
    is_close = np.isclose(found, expected, rtol=check.rtol, atol=check.atol, equal_nan=True)
    both_nan = np.isnan(found) & np.isnan(expected) if found.dtype.kind == "f" else ~is_close
    difference[both_nan & is_close] = 0.0
    relative = np.divide(difference, scale, out=np.zeros_like(scale), where=scale > 0)
    return BufferComparison(
        name,
        found.size,
        int(np.count_nonzero(~is_close)),
        float(difference.max(initial=0.0)),
        float(relative.max(initial=0.0)),
    )
