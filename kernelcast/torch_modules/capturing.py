"""Functions under `torch.compile` in a block of `kc.capture`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from kernelcast.errors import InputError
from kernelcast.torch_modules.absent_gpu import module
from kernelcast.torch_modules.generated_code import compiled_graph
from kernelcast.torch_modules.launches import ExecutedLaunches
from kernelcast.triton_calls.session import CallSession

__all__ = ["compiled_functions"]

_COMPILER = "torch._dynamo"


@contextmanager
def compiled_functions(session: CallSession) -> Iterator[None]:
    """Inductor generates code for the session's first device within the block, which runs here.

    All its devices estimate that code. What was compiled before is compiled anew, as it is after
    the block.
    """
    launches = ExecutedLaunches(session)

    def compiled(_: Any, graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        if module("torch").is_grad_enabled() and any(map(_wants_gradient, inputs)):
            raise InputError("code for gradients is not generated: use torch.no_grad()")
        function, _ = compiled_graph(graph, inputs, session.devices[0], launches)
        return function

    wrapper = module("torch")._TorchCompileInductorWrapper
    _forget()
    try:
        with mock.patch.object(wrapper, "__call__", compiled):
            yield
    finally:
        _forget()


def _wants_gradient(value: Any) -> bool:
    return bool(getattr(value, "requires_grad", False))


def _forget() -> None:
    """Nothing where nothing was compiled yet."""
    if _COMPILER in sys.modules:
        sys.modules[_COMPILER].reset()
