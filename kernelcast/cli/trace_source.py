"""Where a subcommand's trace comes from: a workload that is executed now, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.terminal import show_progress
from kernelcast.errors import KernelcastError
from kernelcast.execution.caches import Caches
from kernelcast.execution.code import Code
from kernelcast.execution.run_options import RunOptions
from kernelcast.execution.sampling import Sampling

__all__ = ["Execution", "Simulator", "first_compiled"]


class Simulator(Enum):
    """What is compiled once where the installation brings no code: the module of its function."""

    MEMORY = "memory.traversal", "traverse"
    TIMING = "timing.walk.sm_cycles", "walk"


@dataclass(frozen=True)
class Execution:
    """How a workload is to be executed; None where the default holds."""

    size: str | None = None
    registers: int | None = None
    engine: options.EngineName = options.EngineName.AUTO
    limit_seconds: float | None = None
    limit_instructions: int | None = None
    warp_width: int | None = None
    sampling: Sampling = Sampling.NEVER
    record_paths: bool = False
    code: Code | None = None
    caches: Caches | None = None
    store: bool = True
    """Whether what an earlier command recorded is taken, and what is new kept."""
    target: kc.Device | None = None
    """The GPU whose machine code is executed where its memory is not simulated."""

    def trace(
        self,
        source: Path,
        devices: Sequence[kc.Device] = (),
        *,
        record_memory: bool = True,
    ) -> kc.KernelTrace:
        """Executes the workload, or loads the trace, of the file `source`.

        A stored trace takes no option of execution but `registers`, which changes occupancy only,
        and `caches`.
        LaunchError, before a workload runs, when it does not fit one of `devices`.
        """
        if kc.is_trace_file(source):
            self._check_stored(source)
            stored = kc.load_trace(source)
            stored = stored.with_caches(self.caches)
            return stored if self.registers is None else stored.with_registers(self.registers)
        loaded = kc.load_workload(source)
        options.note_engine(self.engine)
        title = f"executing {source.name}"
        if devices and record_memory:
            title += first_compiled(Simulator.MEMORY)
        with show_progress(title) as progress:
            executed = RunOptions(
                registers=self.registers,
                devices=devices,
                warp_width=self.warp_width,
                limits=options.limits(self.limit_seconds, self.limit_instructions),
                engine=self.engine.value,
                progress=progress,
                record_memory=record_memory,
                record_paths=self.record_paths,
                sampling=self.sampling,
                code=self.code,
                caches=self.caches,
                target=self.target,
                store=self.store,
            )
            return loaded.run(self.size, options=executed)

    def _check_stored(self, source: Path) -> None:
        engine = None if self.engine is options.EngineName.AUTO else self.engine
        for name, value in (
            ("--size", self.size),
            ("--engine", engine),
            ("--limit-seconds", self.limit_seconds),
            ("--limit-instructions", self.limit_instructions),
            ("--code", self.code),
        ):
            if value is not None:
                raise KernelcastError(f"{name} goes with a workload file; {source} is a trace")


def first_compiled(simulator: Simulator) -> str:
    """What the title of a progress bar says of a simulator that is to be compiled now."""
    # slow to import, and only wanted where something is simulated
    from kernelcast.simcore.host.compiled import is_compiled

    module, function = simulator.value
    if is_compiled(getattr(import_module(f"kernelcast.simcore.{module}"), function)):
        return ""
    return f" (first, once: compiling the {simulator.name.lower()} simulator)"
