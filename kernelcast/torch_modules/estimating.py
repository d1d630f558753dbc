"""A function or module of PyTorch, compiled by `torch.compile` for GPUs that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kernelcast.errors import InputError, KernelcastError
from kernelcast.simcore.device.device import Device
from kernelcast.torch_modules.absent_gpu import module
from kernelcast.torch_modules.generated_code import GeneratedCode, compiled_graph, zeroed
from kernelcast.torch_modules.launches import EstimatedLaunches
from kernelcast.torch_modules.module_estimate import (
    ModuleEstimate,
    ModuleKernel,
    ModuleTotal,
    device_estimate,
)
from kernelcast.triton_calls.session import Devices, devices_of, launches_on

__all__ = ["estimate_module"]


def estimate_module(
    function: Any, *args: Any, device: Devices, model: str | None = None, **named: Any
) -> ModuleEstimate:
    """Every launch of `torch.compile(function)(*args, **named)` on one or several devices.

    Tensors are on the CPU, or have no memory (`device="meta"`), and so are those of an `nn.Module`.
    Inductor generates code for each device as if it were there, without gradients. Kernels of
    Triton in it are executed, in part where thread blocks may stand for all, and estimated from
    cold caches; kernels of ours stand for those of libraries. Nothing is computed: results of the
    function, and intermediate ones, are zeros. InputError for what cannot be compiled so.
    """
    devices = devices_of(device)
    torch = module("torch")
    inner = getattr(function, "_orig_mod", None) or getattr(
        function, "_torchdynamo_orig_callable", function
    )
    kernels: list[ModuleKernel] = []
    totals: list[ModuleTotal] = []
    code: dict[str, tuple[str, ...]] = {}
    for item in devices:
        with launches_on(item, model=model) as session:
            launches = EstimatedLaunches(session)
            made: list[GeneratedCode] = []
            with torch.no_grad(), _slow_paths(), _fresh_compiler():
                _run(inner, _placed(inner, args), named, _backend(item, launches, made))
        rows, total = device_estimate(item, launches.steps)
        kernels += rows
        totals.append(total)
        code[item.name] = tuple(part.text for part in made)
    return ModuleEstimate(_name_of(inner), tuple(kernels), tuple(totals), code)


def _placed(function: Any, args: Sequence[Any]) -> list[Any]:
    """Tensors among the arguments where those of a module are: without memory or on the CPU."""
    torch = module("torch")
    parameters: Iterable[Any] = getattr(function, "parameters", list)()
    is_meta = any(item.device.type == "meta" for item in parameters)

    def placed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.is_meta == is_meta:
            return value
        return value.to("meta") if is_meta else zeroed(value.shape, value.stride(), value.dtype)

    return [placed(value) for value in args]


def _backend(
    device: Device, launches: EstimatedLaunches, made: list[GeneratedCode]
) -> Callable[[Any, Sequence[Any]], Callable[..., Any]]:
    def backend(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        function, code = compiled_graph(graph, inputs, device, launches)
        made.extend(code)
        return function

    return backend


def _run(function: Any, args: Sequence[Any], named: dict[str, Any], backend: Any) -> None:
    torch = module("torch")
    failed = module("torch._dynamo.exc").TorchDynamoException
    try:
        torch.compile(function, backend=backend, dynamic=False)(*args, **named)
    except failed as error:
        cause = getattr(error, "inner_exception", None)
        if isinstance(cause, KernelcastError):
            raise cause from None
        first = (str(cause or error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{_name_of(function)}: torch.compile: {first}") from error


@contextmanager
def _fresh_compiler() -> Iterator[None]:
    """What was compiled before is compiled anew, and nothing stays."""
    dynamo = module("torch._dynamo")
    dynamo.reset()
    try:
        yield
    finally:
        dynamo.reset()


@contextmanager
def _slow_paths() -> Iterator[None]:
    """Encoders are compiled operator by operator: their fused operator generates no code."""
    mha = module("torch.backends.mha")
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
