"""Functions under `torch.compile` in a block of `kc.capture`, against torch itself."""

from __future__ import annotations

from typing import Any

import pytest

import kernelcast as kc

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def plain(x: Any, y: Any) -> Any:
    return torch.nn.functional.gelu(x @ y + 1).sum(-1)


def test_a_compiled_function_runs_generated_kernels() -> None:
    torch.manual_seed(1)
    x, y = torch.randn(64, 64).half(), torch.randn(64, 128).half()
    compiled = torch.compile(plain, dynamic=False)
    with kc.capture("h200") as session, torch.no_grad():
        first = compiled(x, y)
        second = compiled(x, y)
    expected = plain(x.float(), y.float())
    assert torch.allclose(first.float(), expected, rtol=2e-3, atol=0.5)
    assert torch.equal(first, second)
    names = [call.name for call in session.calls]
    assert len(names) == 4
    assert names[0].startswith("mm (product of kernelcast")
    assert names[1].startswith("triton_per_fused")
    assert session.seconds() > 0


def test_gradients_are_refused() -> None:
    x = torch.randn(8, 8, requires_grad=True)
    compiled = torch.compile(torch.sin)
    with (
        kc.capture("h200"),
        pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="no_grad"),
    ):
        compiled(x)
