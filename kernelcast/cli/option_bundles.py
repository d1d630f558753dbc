"""Groups of options that several subcommands take, each as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from rich.console import RenderableType

from kernelcast.cli import options
from kernelcast.cli.model_options import OwnOptions
from kernelcast.cli.terminal import show_log, show_result
from kernelcast.cli.trace_source import Execution
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.launch import Limits

__all__ = ["ExecutionOptions", "OutputOptions", "bundled"]


@dataclass(frozen=True, slots=True)
class ExecutionOptions:
    """How a workload is to be executed."""

    size: options.Size = None
    registers: options.Registers = None
    engine: options.Engine = options.EngineName.AUTO
    limit_seconds: options.LimitSeconds = None
    limit_instructions: options.LimitInstructions = None
    exact: options.Exact = False
    sample: options.Sample = False
    code: options.CodeChoice = None
    caches: options.CachesChoice = None
    no_store: options.NoStore = False
    verbose: options.Verbose = 0

    @property
    def sampling(self) -> Sampling:
        """The sampling that the options ask for; KernelcastError for contradictory ones."""
        return options.sampling(exact=self.exact, sample=self.sample)

    @property
    def limits(self) -> Limits:
        """The limits of the execution that the options ask for."""
        return options.limits(self.limit_seconds, self.limit_instructions)

    @property
    def of_workload(self) -> dict[str, object]:
        """Options that say what a workload is, which no profiler's file takes."""
        return {"--size": self.size, "--registers": self.registers, "--code": self.code}

    def execution(self, *, record_paths: bool = False, target: Device | None = None) -> Execution:
        """The options as the models' pipeline takes them."""
        if self.verbose:
            show_log("kernelcast.store")
        return Execution(
            self.size,
            self.registers,
            self.engine,
            self.limit_seconds,
            self.limit_instructions,
            sampling=self.sampling,
            record_paths=record_paths,
            code=self.code,
            caches=self.caches,
            store=not self.no_store,
            target=target,
            warp_width=None if target is None else target.architecture.warp_width,
        )


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The form of a result."""

    json: options.Json = False
    csv: options.Csv = False

    def show(
        self,
        *,
        record: Callable[[], Mapping[str, Any]],
        rows: Callable[[], Iterable[Sequence[object]]],
        report: Callable[[], RenderableType],
    ) -> None:
        """Writes the result as a report, or as JSON or CSV where these were asked for."""
        show_result(json=self.json, csv=self.csv, record=record, rows=rows, report=report)


def bundled(command: Callable[..., None]) -> Callable[..., None]:
    """A command in which each field of a parameter that is a bundle is an option of its own."""
    signature = inspect.signature(command, eval_str=True)
    kinds = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    bundles = {name: kind for name, kind in kinds.items() if _is_bundle(kind)}
    parts = {name: _options(kind) for name, kind in bundles.items()}

    @wraps(command)
    def run(**given: object) -> None:
        for name, kind in bundles.items():
            values = {item.name: given.pop(item.name) for item in parts[name]}
            given[name] = OwnOptions.of(values) if kind is OwnOptions else kind(**values)
        command(**given)

    flat = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, original in signature.parameters.items()
        for parameter in parts.get(name, [original])
    ]
    run.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _is_bundle(kind: object) -> bool:
    """Whether a parameter stands for several options: no single option is a dataclass."""
    return kind is OwnOptions or (isinstance(kind, type) and is_dataclass(kind))


def _options(bundle: type[Any]) -> list[inspect.Parameter]:
    if bundle is OwnOptions:
        return OwnOptions.parameters()
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=item.default,
            annotation=hints[item.name],
        )
        for item in fields(bundle)
    ]
