"""Times the Triton kernels of `triton_kernels` on a CUDA GPU, and operators of PyTorch.

    python validation/measure_triton.py --output validation/measured/triton/h200.json

Needs PyTorch and Triton with CUDA. Rows have medians of launches from cold caches;
docs/measuring.md describes them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
import triton
from torch.nn import functional
from triton.testing import do_bench
from triton_kernels import kernels
from triton_kernels.cases import Array, TritonCase, all_cases

_QUANTILES = (0.5, 0.1, 0.9)
_TOLERANCE = 2e-2


def main() -> int:
    """Compile all launches side by side, time them one by one, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the JSON file that is written")
    parser.add_argument("--ptx", type=Path, help="a tar file for the PTX of all launches")
    options = parser.parse_args()
    cases = list(all_cases())
    with ProcessPoolExecutor(
        min(12, os.cpu_count() or 1), torch.multiprocessing.get_context("spawn")
    ) as pool:
        list(pool.map(_compile, range(len(cases))))
    found = {
        "schema": 1,
        "device": _device(),
        "launch_overhead_s": _seconds(_empty_launch())["median"],
    }
    texts: dict[str, str] = {}
    found["rows"] = [_row(index, case, texts) for index, case in enumerate(cases)]
    found["operators"] = [_operator(name, call) for name, call in _operators()]
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    if options.ptx:
        _pack(texts, options.ptx)
    wrong = [row for row in found["rows"] if row["check"] not in ("right", "not compared")]
    sys.stdout.write(
        f"{len(found['rows'])} launches, {len(wrong)} failed or wrong, "
        f"{len(found['operators'])} operators\n"
    )
    return 1 if wrong else 0


def _device() -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    clocks = subprocess.run(
        [
            "nvidia-smi",
            "--query-gpu=clocks.max.sm,clocks.max.mem,driver_version",
            "--format=csv,noheader",
        ],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "name": properties.name,
        "sm_count": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "clocks": clocks,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _tensor(argument: Array | int | float) -> Any:
    if not isinstance(argument, Array):
        return argument
    dtype = getattr(torch, argument.dtype)
    if argument.below is not None:
        return torch.randint(argument.below, argument.shape, dtype=dtype, device="cuda")
    return torch.randn(argument.shape, dtype=dtype, device="cuda")


def _compile(index: int) -> None:
    """Compile one case into Triton's cache, so that the process that times finds it there."""
    case = list(all_cases())[index]
    small = [
        torch.empty(16, dtype=getattr(torch, a.dtype), device="cuda") if isinstance(a, Array) else a
        for a in case.arguments
    ]
    try:
        getattr(kernels, case.kernel).warmup(
            *small, grid=case.grid, **case.constants, **case.options
        )
    except Exception as error:  # the process that times meets it again and says so
        sys.stderr.write(f"{case.kernel}: {error}\n")


def _row(index: int, case: TritonCase, texts: dict[str, str]) -> dict[str, Any]:
    row = {
        "kernel": case.kernel,
        "size": dict(case.size),
        "grid": list(case.grid),
        "constants": dict(case.constants),
        "options": dict(case.options),
    }
    tensors = [_tensor(argument) for argument in case.arguments]
    kernel = getattr(kernels, case.kernel)[case.grid]

    def launch() -> Any:
        return kernel(*tensors, **case.constants, **case.options)

    try:
        compiled = launch()
        torch.cuda.synchronize()
    except Exception as error:  # too many registers or too much shared memory: a row of its own
        return row | {
            "check": f"failed: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        }
    texts[f"{index:03d}-{case.kernel}.ptx"] = compiled.asm["ptx"]
    row |= {
        "registers": compiled.n_regs,
        "spills": compiled.n_spills,
        "shared_bytes": compiled.metadata.shared,
    }
    row["check"] = _check(case, tensors)
    return row | {"time_s": _seconds(launch)}


def _check(case: TritonCase, tensors: list[Any]) -> str:
    if case.answer is None:
        return "not compared"
    arrays = [t for t in tensors if isinstance(t, torch.Tensor)]
    found = tensors[case.result].float()
    if case.kernel in ("softmax", "layer_norm", "rms_norm", "cross_entropy"):
        found = found[:64]
        arrays = [a[:64] if a.shape[0] == tensors[0].shape[0] else a for a in arrays]
    expected = case.answer(*arrays).float()
    error = ((found - expected).abs().max() / expected.abs().max().clamp(min=1e-6)).item()
    return "right" if error < _TOLERANCE else f"wrong: {error:.3g} of the largest value"


def _seconds(launch: Callable[[], Any]) -> dict[str, float]:
    median, low, high = do_bench(launch, warmup=10, rep=40, quantiles=list(_QUANTILES))
    return {"median": median * 1e-3, "low": low * 1e-3, "high": high * 1e-3}


def _empty_launch() -> Callable[[], Any]:
    x = torch.zeros(128, device="cuda")
    return lambda: kernels.add[(1,)](x, x, x, 0, BLOCK=128, num_warps=4)


def _pack(texts: dict[str, str], path: Path) -> None:
    with tarfile.open(path, "w:xz") as archive:
        for name, text in texts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, BytesIO(text.encode()))


def _operators() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Operators and modules in half precision, with and without torch.compile."""
    half = {"dtype": torch.float16, "device": "cuda"}
    for m, n, k in (
        (4096, 4096, 4096),
        (8192, 1024, 2048),
        (256, 8192, 8192),
        (1, 4096, 4096),
        (16, 4096, 4096),
        (8192, 8192, 8192),
        (512, 512, 512),
        (1024, 1024, 1024),
        (2048, 2048, 2048),
        (4096, 50304, 1024),
    ):
        a, b = torch.randn(m, k, **half), torch.randn(n, k, **half)
        yield f"linear {m}x{n}x{k} float16", lambda a=a, b=b: functional.linear(a, b)
    for size in (1024, 4096):
        a, b = torch.randn(size, size, device="cuda"), torch.randn(size, size, device="cuda")
        yield f"matmul {size}x{size}x{size} float32", lambda a=a, b=b: a @ b
    for heads, tokens, head in ((32, 4096, 64), (32, 2048, 128), (16, 1024, 64)):
        q, k, v = (torch.randn(1, heads, tokens, head, **half) for _ in range(3))
        yield (
            f"attention {heads}x{tokens}x{head} float16",
            lambda q=q, k=k, v=v: functional.scaled_dot_product_attention(q, k, v),
        )
    for batch, channels, out, side, window in (
        (32, 64, 64, 56, 3),
        (32, 256, 512, 28, 1),
        (32, 512, 512, 7, 3),
    ):
        x, w = (
            torch.randn(batch, channels, side, side, **half),
            torch.randn(out, channels, window, window, **half),
        )
        yield (
            f"conv2d {batch}x{channels}x{side}x{side} to {out} by {window} float16",
            (lambda x=x, w=w, window=window: functional.conv2d(x, w, padding=window // 2)),
        )
    for name, module, x in (
        ("mlp", _mlp(), torch.randn(8192, 1024, **half)),
        ("block", _block(), torch.randn(8, 1024, 1024, **half)),
    ):
        module = module.cuda().half().eval()
        yield f"{name} eager", lambda module=module, x=x: module(x)
        compiled = torch.compile(module)
        yield f"{name} compiled", lambda compiled=compiled, x=x: compiled(x)


def _mlp() -> Any:
    return torch.nn.Sequential(
        torch.nn.LayerNorm(1024),
        torch.nn.Linear(1024, 4096),
        torch.nn.GELU(),
        torch.nn.Linear(4096, 1024),
    )


def _block() -> Any:
    return torch.nn.TransformerEncoderLayer(
        1024, 16, 4096, activation="gelu", batch_first=True, norm_first=True, dropout=0.0
    )


def _operator(name: str, call: Callable[[], Any]) -> dict[str, Any]:
    try:
        with torch.no_grad():
            call()
            torch.cuda.synchronize()
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CUDA]
            ) as profile:
                call()
                torch.cuda.synchronize()
            return {"operator": name, "time_s": _seconds(call), "kernels": _kernels(profile)}
    except Exception as error:
        return {
            "operator": name,
            "failed": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}",
        }


def _kernels(profile: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        profile.export_chrome_trace(f"{folder}/trace.json")
        events = json.loads(Path(folder, "trace.json").read_text())["traceEvents"]
    return [
        {
            "name": event["name"],
            "time_s": event["dur"] * 1e-6,
            "grid": event["args"].get("grid"),
            "block": event["args"].get("block"),
            "registers": event["args"].get("registers per thread"),
            "shared_bytes": event["args"].get("shared memory"),
        }
        for event in events
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
    ]


if __name__ == "__main__":
    sys.exit(main())
