"""Modules of PyTorch, against inductor's code, closed forms and what an H200 was seen to run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.errors import InputError

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

from tests.drawn_cases import ALL_CASES  # noqa: E402

MEASURED = Path(__file__).parents[3] / "validation" / "measured" / "triton" / "h200.json"
ROWS, WIDTH, INNER = 128, 128, 256
BATCH, TOKENS, HEADS = 1, 128, 2
CALL = re.compile(r"\.run\(|extern_kernels\.\w+\(|= torch\.ops\.aten\.\w+")

pytestmark = [
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Block(torch.nn.Module):  # type: ignore[misc]
    """Attention of several heads and two linear layers, each behind a norm."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x: Any) -> Any:
        functional = torch.nn.functional
        parts = self.project(self.norms[0](x)).view(*x.shape[:2], 3, HEADS, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.norms[1](x))))


def perceptron() -> Any:
    nn = torch.nn
    layers = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH)
    return nn.Sequential(*layers)


@pytest.fixture(scope="module")
def mlp() -> Any:
    x = torch.zeros(ROWS, WIDTH, dtype=torch.float16)
    return kc.estimate_module(
        perceptron().half(), x, device=["h200", "a100-40gb"] if ALL_CASES else "h200"
    )


@pytest.fixture(scope="module")
def block() -> Any:
    x = torch.empty(BATCH, TOKENS, WIDTH, dtype=torch.bfloat16, device="meta")
    return kc.estimate_module(Block().bfloat16(), x, device="h200")


def calls_in(code: str) -> int:
    """How often the function of generated code launches kernels, itself or by a library."""
    return len(CALL.findall(code[code.index("def call(") : code.index("\nrunner =")]))


def of_kernel(found: Any, name: str) -> Any:
    return next(item for item in found.kernels if item.kernel.startswith(name))


def test_every_launch_of_the_generated_code_is_counted(mlp: Any, block: Any) -> None:
    for found, launches in ((mlp, 4), (block, 9)):
        for total in found.totals:
            (code,) = found.code[total.device]
            assert total.launches == calls_in(code) == launches
            rows = [item for item in found.kernels if item.device == total.device]
            assert sum(item.launches for item in rows) == launches


def test_kernels_are_those_that_an_h200_was_seen_to_run(mlp: Any) -> None:
    operators = json.loads(MEASURED.read_text())["operators"]
    (seen,) = [item for item in operators if item["operator"] == "mlp compiled"]
    names = {item["name"] for item in seen["kernels"] if item["name"].startswith("triton")}
    assert {item.kernel for item in mlp.kernels if item.kind == "triton"} == names


def test_flops_of_products_are_those_of_their_sizes(mlp: Any, block: Any) -> None:
    both = 2.0 * ROWS * WIDTH * INNER
    products = [item for item in mlp.kernels if item.kind == "library"]
    assert [item.flops for item in products] == [both] * len(products)
    rows = BATCH * TOKENS
    sizes = (3 * WIDTH * WIDTH, WIDTH * WIDTH, WIDTH * INNER, INNER * WIDTH)
    found = [item for item in block.kernels if item.kernel == "addmm"]
    assert sorted(item.flops for item in found) == sorted(2.0 * rows * size for size in sizes)
    for item in (*products, *found):
        # the kernel that stands for the library's multiplies as much: tiles divide the sizes
        profile = item.call.profiles[item.device]
        assert profile.instructions.tensor_total == item.flops
        assert "of kernelcast" in item.stands_for


def test_causal_attention_is_half_of_the_scores(block: Any) -> None:
    item = of_kernel(block, "_scaled_dot_product_flash_attention")
    head = WIDTH // HEADS
    scores = BATCH * HEADS * TOKENS * (TOKENS + 1) / 2
    assert item.flops == 4 * scores * head


def test_bytes_of_pointwise_kernels_and_norms(mlp: Any) -> None:
    gelu = of_kernel(mlp, "triton_poi_fused_gelu").call.profiles["h200"].traffic
    assert gelu.requested_load_bytes == gelu.requested_store_bytes == 2 * ROWS * INNER
    assert gelu.dram_read_transactions * 32 == 2 * ROWS * INNER
    norm = of_kernel(mlp, "triton_per_fused_native_layer_norm").call.profiles["h200"].traffic
    assert norm.requested_store_bytes == 2 * ROWS * WIDTH
    assert norm.dram_read_transactions * 32 == 2 * (ROWS + 2) * WIDTH


def test_totals_and_shares(mlp: Any) -> None:
    for total in mlp.totals:
        rows = [item for item in mlp.kernels if item.device == total.device]
        assert sum(item.share for item in rows) == pytest.approx(1)
        assert total.kernels_s == pytest.approx(sum(i.time_s * i.launches for i in rows))
        link = kc.device(total.device).host_link
        first = link.launch_call_s if link is not None else 2.5e-6
        assert total.time_s >= total.kernels_s + first
        assert all(item.bottleneck for item in rows)


def test_tables(mlp: Any) -> None:
    frame = mlp.to_frame()
    assert list(frame["launches"]) == [item.launches for item in mlp.kernels]
    assert "gelu" in mlp._repr_html_()
    record = json.loads(json.dumps(mlp.as_dict()))
    assert record["totals"][0]["launches"] == 4
    assert "of kernelcast" in str(mlp)
    assert of_kernel(mlp, "triton_poi_fused_gelu").operators == ("aten.gelu",)


def test_each_device_has_code_of_its_own() -> None:
    def scaled(x: Any) -> Any:
        return torch.relu(x) * 2

    found = kc.estimate_module(scaled, torch.zeros(4096), device=["h200", "a100-40gb"])
    assert [item.device for item in found.totals] == ["h200", "a100-40gb"]
    assert "cc=90" in found.code["h200"][0]
    assert "cc=80" in found.code["a100-40gb"][0]


def test_like_launches_are_together_and_graph_breaks_are_followed() -> None:
    def halves(x: Any) -> Any:
        x = torch.sin(x)
        torch._dynamo.graph_break()
        return torch.cos(x).sort()

    found = kc.estimate_module(halves, torch.zeros(4096), device="h200")
    assert len(found.code["h200"]) == 2
    kinds = {item.kernel: item.kind for item in found.kernels}
    assert kinds == {
        "triton_poi_fused_sin_0": "triton",
        "triton_poi_fused_cos_0": "triton",
        "sort": "unknown",
    } or set(kinds.values()) == {"triton"}
    if "unknown" in kinds.values():
        assert found.total().unknown == 1
        assert "no estimate" in str(found)


def test_constants_on_the_gpu_and_losses() -> None:
    def loss(x: Any, target: Any) -> Any:
        return torch.nn.functional.cross_entropy(x.float(), target) + torch.zeros(1)

    x = torch.empty(16, 64, dtype=torch.float16, device="meta")
    found = kc.estimate_module(loss, x, torch.arange(16), device="h200")
    assert found.total().launches == calls_in(found.code["h200"][0])
    assert {item.kind for item in found.kernels} == {"triton"}


def test_what_torch_cannot_compile_is_an_input_error() -> None:
    def wrong(x: Any) -> Any:
        return x @ torch.zeros(3, 5)

    with pytest.raises(InputError, match="wrong"):
        kc.estimate_module(wrong, torch.zeros(4, 4), device="h200")
