"""Times what `torch.compile` makes of PyTorch modules on a CUDA GPU, kernel by kernel.

    python validation/measure_modules.py --output validation/measured/triton/h200-modules.json

Needs PyTorch with CUDA. Each module is compiled, launched and profiled; a row has its kernels in
the order of their launches with the medians of their durations by PyTorch's profiler (CUPTI), and
the time of a whole call between two events. docs/measuring.md describes them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

_CALLS = 10


class Mlp(nn.Module):
    """Layer norm, a linear layer, GELU, a linear layer, and what came in added."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`x`: [..., width]."""
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Block(nn.Module):
    """A transformer's block: attention of several heads, then `Mlp`."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm = nn.LayerNorm(width)
        self.in_projection = nn.Linear(width, 3 * width)
        self.out_projection = nn.Linear(width, width)
        self.mlp = Mlp(width, 4 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`x`: [batch, length, width]."""
        batch, length, width = x.shape
        parts = self.in_projection(self.norm(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        x = x + self.out_projection(found.transpose(1, 2).reshape(batch, length, width))
        return self.mlp(x)


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
    return (x.float() * scale).to(x.dtype) * weight


def _swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return functional.silu(gate) * up


def _cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.float(), target)


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def _adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> Any:
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def _random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, device="cuda")


def _cases() -> Iterator[tuple[str, dict[str, Any], Callable[..., Any], tuple[torch.Tensor, ...]]]:
    """Names, settings, functions and their arguments."""
    half, brain, single = torch.float16, torch.bfloat16, torch.float32
    for rows, width, inner, dtype in (
        (4096, 1024, 4096, half),
        (8192, 2048, 8192, brain),
        (512, 768, 3072, half),
        (2048, 1024, 4096, single),
    ):
        about = {"rows": rows, "width": width, "inner": inner, "dtype": str(dtype)[6:]}
        module = Mlp(width, inner).to("cuda", dtype)
        yield "mlp", about, module, (_random(rows, width, dtype=dtype),)
    for batch, length, width, heads, causal, dtype in (
        (8, 1024, 1024, 16, True, half),
        (2, 2048, 2048, 16, True, brain),
        (4, 512, 768, 12, False, half),
    ):
        sizes = {"batch": batch, "length": length, "width": width, "heads": heads}
        about = sizes | {"causal": causal, "dtype": str(dtype)[6:]}
        module = Block(width, heads, causal=causal).to("cuda", dtype)
        yield "block", about, module, (_random(batch, length, width, dtype=dtype),)
    for rows, width, dtype in ((8192, 4096, brain), (1024, 1024, half), (16384, 1000, single)):
        about = {"rows": rows, "width": width, "dtype": str(dtype)[6:]}
        x, y = _random(rows, width, dtype=dtype), _random(rows, width, dtype=dtype)
        yield "rms_norm", about, _rms_norm, (x, _random(width, dtype=dtype))
        yield "swiglu", about, _swiglu, (x, y)
        yield "softmax", about, _softmax, (x,)
        yield "adam", about, _adam, (x, y, y.clone(), y.abs())
    for rows, words, dtype in ((2048, 32000, brain), (8192, 50304, half)):
        about = {"rows": rows, "words": words, "dtype": str(dtype)[6:]}
        target = torch.randint(words, (rows,), device="cuda")
        yield "cross_entropy", about, _cross_entropy, (_random(rows, words, dtype=dtype), target)


def _kernels(call: Callable[[], Any]) -> list[dict[str, Any]]:
    """The kernels of a call in the order of their launches, with medians of durations.

    Before each call L2 is overwritten: the first kernel finds nothing of its own there.
    """
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(_CALLS):
            flush.fill_(1)
            call()
        torch.cuda.synchronize()
    events = [e for e in found.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    events.sort(key=lambda event: event.time_range.start)
    if len(events) % _CALLS:
        raise RuntimeError(f"{len(events)} kernels in {_CALLS} calls")
    size = len(events) // _CALLS
    calls = [events[at + 1 : at + size] for at in range(0, len(events), size)]
    return [
        {
            "name": together[0].name,
            "time_s": statistics.median(e.time_range.elapsed_us() for e in together) * 1e-6,
        }
        for together in zip(*calls, strict=True)
    ]


def _whole(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(_CALLS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def main() -> int:
    """Time all modules, and write what was found after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the JSON file that is written")
    options = parser.parse_args()
    properties = torch.cuda.get_device_properties(0)
    found: dict[str, Any] = {
        "schema": 1,
        "device": {
            "name": properties.name,
            "sm_count": properties.multi_processor_count,
            "torch": torch.__version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        "rows": [],
    }
    torch.manual_seed(1)
    for name, about, function, arguments in _cases():
        compiled = torch.compile(function, dynamic=False)

        def call(compiled: Any = compiled, arguments: Any = arguments) -> Any:
            with torch.no_grad():
                return compiled(*arguments)

        row: dict[str, Any] = {"module": name, "settings": about}
        try:
            for _ in range(3):
                call()
            torch.cuda.synchronize()
            row |= {"kernels": _kernels(call), "call_s": _whole(call)}
        except Exception as error:  # a row of its own: others may go
            row["failed"] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
        found["rows"].append(row)
        options.output.write_text(json.dumps(found, indent=1) + "\n")
        sys.stdout.write(f"{name} {about}: {len(row.get('kernels', ()))} kernels\n")
        sys.stdout.flush()
        torch.compiler.reset()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
