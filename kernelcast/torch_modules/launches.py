"""Launches of generated code: each new one estimated, the others counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernelcast.errors import LaunchError
from kernelcast.torch_modules.absent_gpu import module
from kernelcast.torch_modules.generated_code import zeroed
from kernelcast.torch_modules.library_calls import moved_bytes, stand_in
from kernelcast.triton_calls.session import CallSession, CapturedCall

__all__ = ["EstimatedLaunches", "ExecutedLaunches", "Step"]

_FLASH = "_scaled_dot_product_flash_attention"
_ATTENTION = (_FLASH, "_scaled_dot_product_efficient_attention")
"""Operators that torch has for GPUs alone."""


@dataclass(frozen=True)
class Step:
    """One thing that generated code asks of the GPU.

    `call` is its launch; None for a copy or fill of `bytes`, and for what cannot be estimated.
    `stands_for`: how a kernel of ours stands for a library's. `flops` of an operator of a library.
    """

    name: str
    operators: tuple[str, ...]
    call: CapturedCall | None = None
    stands_for: str = ""
    flops: float | None = None
    bytes: int | None = None


class EstimatedLaunches:
    """Launches of which nobody wants the results: like ones are estimated once, by `session`."""

    def __init__(self, session: CallSession) -> None:
        self.session = session
        self.steps: list[Step] = []
        self._known: dict[Any, CapturedCall] = {}
        self._chosen: dict[Any, Any] = {}

    def kernel(self, kernel: Any, args: Sequence[Any], operators: tuple[str, ...]) -> None:
        """Counts a launch, which is estimated if there was none like it."""
        key = (kernel.fn, _likeness(args))
        if key not in self._known:
            given, grid, constants = self._configured(kernel, args)
            with self.session.predicting(everywhere=True) as made:
                self.session.run(kernel.fn, grid, given, constants)
            self._known[key] = made[-1]
        self.steps.append(Step(kernel.fn.__name__, operators, self._known[key]))

    def library(
        self, function: Any, args: Sequence[Any], named: dict[str, Any], operators: tuple[str, ...]
    ) -> Any:
        """Makes no results but memory for them."""
        result = _memory_for(function, args, named)
        self.steps.append(self.step_of(function, args, named, result, operators))
        return result

    def step_of(
        self,
        function: Any,
        args: Sequence[Any],
        named: dict[str, Any],
        result: Any,
        operators: tuple[str, ...],
    ) -> Step:
        """The step of an operator whose result, or memory for it, is there."""
        name = _name_of(function)
        found = stand_in(name, args, named, result, self.session.devices[0])
        shown = operators or (f"aten.{name}",)
        if found is None:
            return Step(name, shown, bytes=moved_bytes(name, result))
        key = (found.kernel, tuple(found.constants.items()), _likeness(found.args))
        if key not in self._known:
            keywords = {**found.constants, **found.options}
            with self.session.predicting(everywhere=True) as made:
                self.session.run(found.kernel, found.grid, found.args, keywords)
            self._known[key] = made[-1]
        stands_for = f"{found.kernel.__name__} of kernelcast, {found.tile}"
        return Step(name, shown, self._known[key], stands_for, found.flops)

    def _configured(
        self, kernel: Any, args: Sequence[Any]
    ) -> tuple[Sequence[Any], tuple[int, ...], dict[str, Any]]:
        """Arguments, grid and constants with the configuration that is the fastest one predicted.

        Torch measures them on a GPU. LaunchError when none fits the device.
        """
        key = (kernel.fn, _likeness(args))
        if key not in self._chosen:
            only_one = len(kernel.configs) == 1
            found = 0 if only_one else _fastest(self.session, kernel, args)
            self._chosen[key] = kernel.configs[found]
        config = self._chosen[key]
        given, grid = kernel._interpret_args_grid(tuple(args), config)
        return given, grid, config.all_kwargs()


class ExecutedLaunches(EstimatedLaunches):
    """Launches that change the tensors, and are among the session's calls."""

    def kernel(self, kernel: Any, args: Sequence[Any], operators: tuple[str, ...]) -> None:
        """Executes every launch completely."""
        given, grid, constants = self._configured(kernel, args)
        self.session.run(kernel.fn, grid, given, constants)

    def library(
        self, function: Any, args: Sequence[Any], named: dict[str, Any], operators: tuple[str, ...]
    ) -> Any:
        """Has torch compute the results on the CPU; LaunchError for what cannot be estimated."""
        result = _computed(function, args, named)
        step = self.step_of(function, args, named, result, operators)
        if step.call is None and step.bytes is None:
            raise LaunchError(
                f"aten.{step.name} is a library's, and no kernel of ours stands for it: "
                "kc.estimate_module counts it"
            )
        if step.call is not None:
            title = f"{step.name} ({step.stands_for})"
            self.session.calls.append(replace(step.call, name=title))
        return result


def _fastest(session: CallSession, kernel: Any, args: Sequence[Any]) -> int:
    """The number of the configuration with the least predicted time; LaunchError when none fits."""
    seconds: dict[int, float] = {}
    refused = LaunchError(f"{kernel.fn.__name__} has no configuration")
    for number, config in enumerate(kernel.configs):
        given, grid = kernel._interpret_args_grid(tuple(args), config)
        try:
            with session.predicting() as made:
                session.run(kernel.fn, grid, given, config.all_kwargs())
        except LaunchError as error:
            refused = error
            continue
        seconds[number] = made[-1].estimate.time_s
    if not seconds:
        raise refused
    return min(seconds, key=lambda number: seconds[number])


def _name_of(function: Any) -> str:
    name: str = function._schema.name
    return name.removeprefix("aten::")


def _likeness(args: Sequence[Any]) -> tuple[Any, ...]:
    """What launches must have in common to take the same time: shapes, places, numbers."""
    storages: dict[int, int] = {}
    return tuple(
        (
            storages.setdefault(value.untyped_storage().data_ptr(), len(storages)),
            value.untyped_storage().nbytes(),
            value.storage_offset(),
            tuple(value.shape),
            value.stride(),
            value.dtype,
        )
        if hasattr(value, "untyped_storage")
        else value
        for value in args
    )


def _memory_for(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """What an operator returns, without its contents."""
    if "out" in named:
        return named["out"]
    returns = function._schema.returns
    if returns and returns[0].alias_info is not None:
        return args[0]
    torch = module("torch")
    as_meta = _mapped(torch.Tensor, lambda value: _meta(torch, value))
    found = function(*as_meta(args), **{**as_meta(named), **_meta_place(torch, named)})
    real = _mapped(torch.Tensor, lambda value: zeroed(value.shape, value.stride(), value.dtype))
    return real(found)


def _meta_place(torch: Any, named: dict[str, Any]) -> dict[str, Any]:
    return {"device": torch.device("meta")} if "device" in named else {}


def _meta(torch: Any, value: Any) -> Any:
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")


def _mapped(kind: type, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that changes what is of a kind in lists, tuples and dictionaries."""
    tree_map_only = module("torch.utils._pytree").tree_map_only
    return lambda values: tree_map_only(kind, change, values)


def _computed(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The results of an operator on the CPU, by another one where it is for GPUs alone."""
    aten, name = module("torch").ops.aten, _name_of(function)
    if name not in _ATTENTION:
        cpu = {**named, "device": "cpu"} if "device" in named else named
        return function(*args, **cpu)
    result = _memory_for(function, args, named)
    q, k, v, *rest = args
    is_flash = name == _FLASH
    mask, causal = (None, rest[1:2]) if is_flash else (rest[0], rest[3:4])
    found = aten._scaled_dot_product_attention_math.default(
        q,
        k,
        v,
        mask,
        0.0,
        bool(causal and causal[0]),
        scale=named.get("scale"),
        enable_gqa=q.shape[1] != k.shape[1],
    )[0]
    result[0].copy_(found)
    return result
