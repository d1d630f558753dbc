"""Kernels that stand for those of libraries, against torch, and their tiles, against cuBLAS's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.torch_modules.library_calls import StandIn, stand_in
from kernelcast.torch_modules.tiles import product_tile

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

MEASURED = Path(__file__).parents[3] / "validation" / "measured" / "triton" / "h200.json"
TILE = re.compile(r"nvjet_sm90_hsh_(?P<columns>\d+)x(?P<rows>\d+)_64x")
HALF = "float16"

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


def random(*shape: int, kind: str = HALF) -> Any:
    return torch.randn(shape, dtype=getattr(torch, kind))


def executed(found: StandIn | None) -> None:
    assert found is not None
    keywords = {**found.constants, **found.options}
    kc.estimate_call(
        found.kernel, found.grid, found.args, device="h200", model="roofline", **keywords
    )


def made(name: str, args: tuple[Any, ...], result: Any, **named: Any) -> None:
    executed(stand_in(name, args, named, result, kc.device("h200")))


def close(found: Any, expected: Any) -> None:
    assert torch.allclose(found.float(), expected.float(), rtol=2e-2, atol=2e-2)


def test_products() -> None:
    torch.manual_seed(1)
    a, b, bias = random(33, 70), random(40, 70).t(), random(40)
    c = torch.empty(33, 40, dtype=torch.float16)
    made("addmm", (bias, a, b), c)
    close(c, a.float() @ b.float() + bias.float())


@pytest.mark.drawn(1)
@pytest.mark.parametrize("kind", ["bfloat16", "float32"])
def test_products_of_batches(kind: str) -> None:
    torch.manual_seed(1)
    a, b = random(3, 32, 64, kind=kind) / 4, random(3, 64, 32, kind=kind) / 4
    c = torch.empty(3, 32, 32, dtype=a.dtype)
    made("bmm", (a, b), c)
    close(c, a.float() @ b.float())


@pytest.mark.drawn(1)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_flash_attention(causal: bool, kv_heads: int) -> None:
    torch.manual_seed(1)
    q, k, v = random(1, 2, 70, 40), random(1, kv_heads, 70, 40), random(1, kv_heads, 70, 40)
    out = torch.empty_like(q)
    made("_scaled_dot_product_flash_attention", (q, k, v, 0.0, causal), (out,))
    expected = torch.nn.functional.scaled_dot_product_attention(
        q.float(), k.float(), v.float(), is_causal=causal, enable_gqa=True
    )
    close(out, expected)


def test_attention_with_a_mask() -> None:
    torch.manual_seed(1)
    q, k, v, mask = random(1, 2, 32, 64), random(1, 2, 48, 64), random(1, 2, 48, 64), random(32, 48)
    out = torch.empty_like(q)
    wide = mask.expand(1, 2, 32, 48)
    made("_scaled_dot_product_efficient_attention", (q, k, v, wide, False), (out,), scale=0.2)
    expected = torch.nn.functional.scaled_dot_product_attention(
        q.float(), k.float(), v.float(), attn_mask=mask.float(), scale=0.2
    )
    close(out, expected)


def test_convolutions() -> None:
    torch.manual_seed(1)
    x, weight, bias = random(2, 20, 9, 7), random(24, 20, 3, 3) / 8, random(24)
    expected = torch.nn.functional.conv2d(
        x.float(), weight.float(), bias.float(), (2, 1), (1, 0), (1, 2)
    )
    y = torch.empty(expected.shape, dtype=torch.float16)
    made("convolution", (x, weight, bias, (2, 1), (1, 0), (1, 2), False, (0, 0), 1), y)
    close(y, expected)


def test_others_have_nothing_that_stands_for_them() -> None:
    x = torch.zeros(4, 4, dtype=torch.float64)
    assert stand_in("mm", (x, x), {}, x, kc.device("h200")) is None
    assert stand_in("sort", (x.float(),), {}, x.float(), kc.device("h200")) is None


def test_tiles_are_those_that_cublas_takes_on_an_h200() -> None:
    """Products of so many rows that cuBLAS does not split the depth; its names say the tiles."""
    device = kc.device("h200")
    seen = 0
    for item in json.loads(MEASURED.read_text())["operators"]:
        match = re.fullmatch(r"linear (\d+)x(\d+)x\d+ float16", item["operator"])
        names = [TILE.match(kernel["name"]) for kernel in item.get("kernels", ())]
        tile = next((name for name in names if name is not None), None)
        if match is None or tile is None or int(match[1]) < 256 or int(match[2]) > 8192:
            continue
        found = product_tile(device, int(match[1]), int(match[2]), 1, element_bytes=2, rate=2048)
        area = int(tile["rows"]) * int(tile["columns"])
        assert area / 2 <= found.rows * found.columns <= area * 2, item["operator"]
        seen += (found.rows, found.columns) == (int(tile["rows"]), int(tile["columns"]))
    assert seen >= 5
