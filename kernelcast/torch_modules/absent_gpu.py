"""A GPU that is not there, as torch's compiler asks for one: properties, no memory, no streams."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from kernelcast.errors import InputError
from kernelcast.execution.code import machine_architecture
from kernelcast.simcore.device.device import Device

__all__ = ["absent_gpu", "module"]

_WARP_WIDTH = 32
_RANDOM_STATE_BYTES = 16
_PASSES = ("pre_grad", "joint_graph", "post_grad")
_FOLDER_OF_PASSES = "torch._inductor.fx_passes"
_MODULES_WITH_ANSWERS = ("torch.utils._triton", "torch._inductor.utils")
"""Modules that remember what they once found out about the machine."""


def module(name: str) -> Any:
    """A module of torch; InputError when torch is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"this needs PyTorch: pip install torch 'kernelcast[triton]' ({error})"
        ) from None


@contextmanager
def absent_gpu(device: Device) -> Iterator[None]:
    """Torch's compiler finds a device of CUDA within the block, which cannot be used.

    Triton's driver has to be that of the device already.
    """
    # patterns are traced once in a process, on the CPU: a device that is not there has no scalars
    passes = [module(f"{_FOLDER_OF_PASSES}.{name}") for name in _PASSES]
    for item in passes:
        item.lazy_init()
    interfaces = module("torch._dynamo.device_interface")
    interfaces.get_interface_for_device("cuda")
    _forget_answers()
    with ExitStack() as stack:
        for item in passes:
            stack.enter_context(mock.patch.object(item, "lazy_init", _nothing))
        for name, answer in _answers(device).items():
            stack.enter_context(mock.patch.object(module("torch.cuda"), name, answer))
        known = {"cuda": _interface(interfaces, device)}
        stack.enter_context(mock.patch.dict(interfaces.device_interfaces, known))
        stack.enter_context(_constants_on_cpu())
        helpers = module("torch._inductor.runtime.triton_helpers")
        stack.enter_context(mock.patch.object(helpers, "set_driver_to_gpu", _nothing))
        try:
            yield
        finally:
            _forget_answers()


@contextmanager
def _constants_on_cpu() -> Iterator[None]:
    """A pass computes what is the same everywhere in a tensor: on the CPU, not on the GPU."""
    torch = module("torch")
    folder = module(f"{_FOLDER_OF_PASSES}.joint_graph").UniformValueConstantFolder
    base: type = module("torch.utils._python_dispatch").TorchDispatchMode
    plain = folder._deduce_value

    def dispatch(
        _: object, function: Any, types: object, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        named = dict(kwargs or {})
        if named.get("device") is not None:
            named["device"] = torch.device("cpu")
        return function(*args, **named)

    mode = type("OnCpu", (base,), {"__torch_dispatch__": dispatch})

    def deduced(self: Any, node: Any) -> Any:
        with mode():
            return plain(self, node)

    with mock.patch.object(folder, "_deduce_value", deduced):
        yield


def _nothing(*_: object, **__: object) -> None:
    pass


def _properties(device: Device) -> SimpleNamespace:
    major, minor = _capability(device)
    sm = device.sm
    return SimpleNamespace(
        name=device.title,
        major=major,
        minor=minor,
        multi_processor_count=device.architecture.sm_count,
        regs_per_multiprocessor=sm.registers,
        max_threads_per_multi_processor=sm.max_threads,
        max_threads_per_block=sm.max_threads_per_thread_block,
        warp_size=_WARP_WIDTH,
        total_memory=int(device.dram.capacity_bytes),
        shared_memory_per_block_optin=sm.max_shared_bytes_per_thread_block,
        L2_cache_size=0 if device.l2 is None else int(device.l2.capacity_bytes),
        gcnArchName="",
    )


def _capability(device: Device) -> tuple[int, int]:
    architecture = machine_architecture(device)
    assert isinstance(architecture, int), "Triton's driver of the device has checked it"
    return divmod(architecture, 10)


def _answers(device: Device) -> dict[str, Any]:
    """What `torch.cuda` says instead, by the names of its functions."""
    torch = module("torch")
    return {
        "is_available": lambda: True,
        "is_bf16_supported": lambda including_emulation=True: _capability(device) >= (8, 0),
        "is_tf32_supported": lambda: _capability(device) >= (8, 0),
        "get_device_properties": lambda _=None: _properties(device),
        "get_device_capability": lambda _=None: _capability(device),
        "get_device_name": lambda _=None: device.title,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "device": lambda _=None: nullcontext(),
        "synchronize": _nothing,
        "set_rng_state": _nothing,
        "get_rng_state": lambda _=None: torch.zeros(_RANDOM_STATE_BYTES, dtype=torch.uint8),
    }


def _interface(interfaces: ModuleType, device: Device) -> type:
    """The class by which torch's compiler asks for a kind of device."""
    base: type = interfaces.DeviceInterface
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": _nothing,
        "exchange_device": lambda _: 0,
        "maybe_exchange_device": lambda _: 0,
        "synchronize": _nothing,
        "get_raw_stream": lambda _: 0,
        "get_device_properties": lambda _=None: _properties(device),
        "get_compute_capability": lambda _=None: machine_architecture(device),
        "is_triton_capable": lambda _=None: True,
        "raise_if_triton_unavailable": _nothing,
        "is_bf16_supported": lambda including_emulation=False: _capability(device) >= (8, 0),
    }
    worker = {
        name: staticmethod(answers[name])
        for name in ("set_device", "current_device", "get_device_properties")
    }
    members = {name: staticmethod(answer) for name, answer in answers.items()}
    return type("AbsentGpu", (base,), {**members, "Worker": type("Worker", (), worker)})


def _forget_answers() -> None:
    module("torch._inductor.runtime.hints").DeviceProperties.create.cache_clear()
    for name in _MODULES_WITH_ANSWERS:
        for value in list(vars(module(name)).values()):
            if hasattr(value, "cache_clear") and getattr(value, "__module__", "") == name:
                value.cache_clear()
