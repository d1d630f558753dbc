"""Kernels as Triton's tutorials and Liger have them, unmodified under capture, against torch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from tests.drawn_cases import ALL_CASES

pytest.importorskip("triton", reason="Triton is not installed")
torch: Any = None

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(autouse=True, scope="module")
def _torch() -> None:
    """Imported where a test runs: every process collects all tests, and torch takes seconds."""
    globals()["torch"] = pytest.importorskip("torch", reason="torch is not installed")


EXAMPLES = Path(__file__).parents[3] / "examples" / "triton"
DEVICES = ("h100-sxm", "a100-40gb")


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"triton_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def differentiated(function: Callable[..., Any], slope: Any, *tensors: Any) -> list[Any]:
    """The result of a function and its gradients for the tensors."""
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    result = function(*leaves)
    result.backward(slope.to(result.dtype))
    return [result.detach(), *(leaf.grad for leaf in leaves)]


def check(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    found = [part.float() for part in found]
    torch.testing.assert_close(found, list(expected), rtol=tolerance, atol=tolerance)


def vector_add() -> int:
    x, y = random(5000), random(5000, seed=1)
    check([example("vector_add").add(x, y)], [x + y])
    return 1


def softmax() -> int:
    x = random(150, 781)
    check([example("softmax").softmax(x)], [torch.softmax(x, -1)])
    return 1


def matmul() -> int:
    a, b = random(96, 128).half(), random(128, 80).half()
    product, module = a.float() @ b.float(), example("matmul")
    leaky = torch.nn.functional.leaky_relu(product)
    check([module.matmul(a, b), module.matmul(a, b, "leaky_relu")], [product, leaky], 2e-2)
    return 2


def dropout() -> int:
    x, module = random(3000), example("dropout")
    keep = (random(3000, seed=1) > 0).int()
    check([module.dropout(x, keep, 0.5)], [torch.where(keep > 0, x * 2, 0.0)])
    first, again, other = (module.seeded_dropout(x, 0.25, seed) for seed in (7, 7, 8))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    check([first], [torch.where(first != 0, x / 0.75, 0.0)])
    # five standard deviations of 3000 draws
    assert abs((first != 0).float().mean() - 0.75) < 5 * (0.25 * 0.75 / 3000) ** 0.5
    return 4


def layer_norm() -> int:
    args = random(37, 200, seed=1), random(37, 200), random(200, seed=2), random(200, seed=3)
    function = example("layer_norm").layer_norm
    expected = differentiated(
        lambda x, w, b: torch.nn.functional.layer_norm(x, (200,), w, b, 1e-5), *args
    )
    check(differentiated(lambda *given: function(*given, 1e-5), *args), expected, 1e-4)
    return 3


def rms_norm() -> int:
    args = random(37, 200, seed=1), random(37, 200), random(200, seed=2)
    function = example("rms_norm").rms_norm
    expected = differentiated(lambda x, w: torch.nn.functional.rms_norm(x, (200,), w, 1e-5), *args)
    check(differentiated(lambda *given: function(*given, 1e-5), *args), expected, 1e-4)
    return 2


def swiglu() -> int:
    args = random(4, 9, 200, seed=1), random(4, 9, 200), random(4, 9, 200, seed=2)
    expected = differentiated(lambda gate, up: torch.nn.functional.silu(gate) * up, *args)
    check(differentiated(example("swiglu").swiglu, *args), expected)
    return 2


def cross_entropy() -> int:
    logits, slope = random(21, 1500), torch.tensor(3.0)
    targets = torch.arange(21) * 70
    targets[3] = -100
    function = example("cross_entropy").cross_entropy
    expected = differentiated(
        lambda x: torch.nn.functional.cross_entropy(x, targets, label_smoothing=0.1), slope, logits
    )
    found = differentiated(lambda x: function(x.clone(), targets, -100, 0.1), slope, logits)
    check(found, expected)
    return 2


def attention_with(causal: bool) -> int:
    operands = [random(1, 2, 144, 32, seed=seed).half() for seed in range(4)]
    function = example("attention").attention
    expected = differentiated(
        lambda *given: torch.nn.functional.scaled_dot_product_attention(*given, is_causal=causal),
        *(operand.float() for operand in operands),
    )
    check(differentiated(lambda *given: function(*given, causal), *operands), expected, 2e-2)
    return 4


def attention() -> int:
    return attention_with(causal=False)


def causal_attention() -> int:
    return attention_with(causal=True)


def persistent_matmul() -> int:
    a, b = random(144, 192).half(), random(104, 192, seed=1).half()
    module = example("persistent_matmul")
    functions = module.matmul, module.matmul_by_descriptors, module.matmul_by_own_descriptors
    check([function(a, b) for function in functions], [a.float() @ b.float().T] * 3, 2e-2)
    return 3


PROGRAMS = (
    vector_add,
    softmax,
    matmul,
    dropout,
    layer_norm,
    attention,
    causal_attention,
    persistent_matmul,
    rms_norm,
    swiglu,
    cross_entropy,
)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_computes_what_torch_does(program: Callable[[], int], device: str) -> None:
    with kc.capture(device=device) as session:
        launches = program()
    assert len(session.calls) == launches
    assert all(call.estimate.time_s > 0 for call in session.calls)


if ALL_CASES:  # a small product is in test_launches.py: make test-all

    def test_a_product_of_4096_on_an_h100_uses_its_matrix_units() -> None:
        """The whole product: what is compiled, and a time that no H100 falls short of."""
        size = 4096
        tile: dict[str, Any] = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8}
        a, b, c = (torch.zeros(size, size, dtype=torch.float16) for _ in range(3))
        strides = size, 1, size, 1, size, 1
        call = kc.estimate_call(
            example("matmul").matmul_kernel.fn,
            ((size // 128) ** 2,),
            (a, b, c, size, size, size, *strides),
            device="h100-sxm",
            results=False,
            num_warps=8,
            num_stages=4,
            ACTIVATION="",
            **tile,
        )
        assert "wgmma.mma_async" in call.ptx
        assert "cp.async" in call.ptx
        assert call.estimate.time_s > 2 * size**3 / 989.4e12
