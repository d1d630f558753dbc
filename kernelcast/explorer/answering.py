"""The answer to one request, computed in a process that does nothing else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelcast.api import estimate
from kernelcast.defaults import default_model, only_time
from kernelcast.errors import InputError, KernelcastError
from kernelcast.execution.sampling import Sampling
from kernelcast.explorer.request import LANGUAGES, Request
from kernelcast.explorer.signature import guessed
from kernelcast.models import needs_paths
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.profile.profile import KernelProfile, WorkType
from kernelcast.trust import Trust
from kernelcast.units import format_seconds
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["RUN_SECONDS", "answered"]

RUN_SECONDS = 8.0
"""A kernel that runs longer is stopped, with a message."""
_MOST_LINES = 4000
_NAME = "pasted"


def answered(question: Any, *, is_trusted: bool = False) -> dict[str, Any]:
    """The answer as JSON has it, or `error` with one clear text."""
    try:
        request = Request.read(question)
        if request.language == "addresses":
            return _addresses(request)
        if request.language == "triton":
            return _triton(request, is_trusted=is_trusted)
        return _kernel(guessed(request))
    except KernelcastError as error:
        return {"error": str(error).replace(tempfile.gettempdir(), "")}
    except MemoryError:
        return {"error": "no memory left: smaller buffers, or a smaller n"}


def _kernel(request: Request) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / f"{_NAME}{LANGUAGES[request.language]}"
        source.write_text(request.source, encoding="utf-8")
        file = folder / f"{_NAME}.toml"
        file.write_text(_toml(request, source), encoding="utf-8")
        given = _shown(request)
        try:
            # Foreign: no functions of Python, no files but those two, no options of a compiler.
            workload = load_workload(file, Trust.FOREIGN)
            return {**given, **_estimated(workload, [load_device(d) for d in request.devices])}
        except KernelcastError as error:
            return {**given, "error": str(error).replace(f"{folder}/", "")}


def _toml(request: Request, source: Path) -> str:
    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    def items(value: str) -> str:
        return ", ".join(text(item.strip()) for item in value.split(","))

    lines = [
        f"[kernel]\nsource = {text(source.name)}",
        f"[sizes.given]\nn = {request.size}",
        f"[launch]\ngrid = [{items(request.grid)}]\nblock = [{items(request.block)}]",
    ]
    for item in request.arguments or ():
        key = "init" if "[" in item.type else "value"
        lines.append(
            f"[[args]]\nname = {text(item.name)}\ntype = {text(item.type)}\n"
            f"{key} = {text(item.value)}"
        )
    return "\n".join(lines)


def _shown(request: Request) -> dict[str, Any]:
    """What was guessed, for the page to show."""
    return {
        "size": request.size,
        "grid": request.grid,
        "block": request.block,
        "arguments": [
            {"name": item.name, "type": item.type, "value": item.value}
            for item in request.arguments or ()
        ],
    }


def _estimated(workload: Workload, devices: Sequence[Device]) -> dict[str, Any]:
    models = [default_model(device) for device in devices]
    trace = workload.run(
        devices=devices,
        sampling=Sampling.AUTO,
        record_paths=any(map(needs_paths, models)),
        limits=Limits(seconds=RUN_SECONDS),
    )
    profiles = [trace.profile(device) for device in devices]
    runnable = workload.load_kernel()
    kernel = runnable.kernel
    architecture = trace.of_device(devices[0]).code
    if runnable.native is not None and architecture.startswith("sm_"):
        number = int(architecture.removeprefix("sm_"))
        kernel = runnable.native.kernel(runnable.name, number)
    return {
        "kernel": runnable.name,
        "code": kernel.code,
        "estimates": [_estimate(*pair) for pair in zip(profiles, devices, strict=True)],
        "listing": _listing(kernel, is_source=kernel.machine is None),
    }


def _estimate(profile: KernelProfile, device: Device) -> dict[str, Any]:
    model = default_model(device)
    found = estimate(profile, model, device, **only_time(model, device))
    counts, traffic = profile.instructions, profile.traffic
    single, double = (counts.flops(kind) for kind in (WorkType.FP32, WorkType.FP64))
    flops = single + double
    is_double = double > single
    peak = device.peak.fp64_flops_per_s if is_double else device.peak.fp32_flops_per_s
    return {
        "device": device.name,
        "model": model,
        "time_s": found.time_s,
        "time": format_seconds(found.time_s),
        "between": f"{format_seconds(found.time_low_s)} and {format_seconds(found.time_high_s)}",
        "limited_by": found.bottleneck,
        "flops": flops,
        "bytes": traffic.dram_bytes,
        "peak_flops_per_s": peak,
        "bandwidth_bytes_per_s": device.dram.bandwidth_bytes_per_s,
    }


def _listing(kernel: Kernel, *, is_source: bool) -> list[dict[str, Any]]:
    """Each instruction's text and the line of what was pasted that it comes from.

    Machine code without the steps that execution needs and the code does not have.
    """
    found = []
    rows = instruction_rows(kernel)
    pairs = [
        (item, row)
        for item, row in zip(kernel.instructions, rows, strict=True)
        if is_source or row.is_source
    ]
    for item, row in pairs[:_MOST_LINES]:
        origin = item.origin
        pasted = origin is not None and Path(origin.file).stem == _NAME
        line = origin.line if pasted and origin is not None else None
        if line is None and is_source and Path(item.span.file).stem == _NAME:
            line = item.span.line
        found.append({"text": row.text.strip() or item.mnemonic, "line": line})
    return found


def _addresses(request: Request) -> dict[str, Any]:
    """The prediction from address expressions, by `warpspeed`; nothing is executed."""
    from kernelcast.address.file import is_address_line, load_address_kernel
    from kernelcast.ranking.launches import rank

    line = " ".join(request.source.split())
    if not is_address_line(line):
        raise InputError("addresses are such as b[y, x] = a[y, x - 1..1]; domain = 512x512")
    kernel = load_address_kernel(line)
    block = "x".join(request.block.replace(" ", "").split(",")) if request.block else "256"
    estimates: list[dict[str, Any]] = []
    for ranking in rank(kernel, list(request.devices), block=block):
        estimates += (
            {
                "device": ranking.device,
                "model": ranking.model,
                "time_s": row.time_s,
                "time": format_seconds(row.time_s),
                "limited_by": row.limiter,
            }
            for row in ranking.rows
        )
        for _, reason in ranking.refused:
            raise InputError(reason)
    return {"kernel": kernel.name, "code": "addresses", "estimates": estimates, "listing": []}


def _triton(request: Request, *, is_trusted: bool) -> dict[str, Any]:
    """The first launch that a program of Triton makes; only for who trusts what is pasted."""
    if not is_trusted:
        raise InputError(
            "Triton is Python, which may do anything: start the explorer with --trust for texts "
            "that you trust"
        )
    from kernelcast.triton_calls.session import capture
    from kernelcast.workload.python_functions import load_module

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"{_NAME}.py"
        path.write_text(request.source, encoding="utf-8")
        with capture(list(request.devices)) as session:
            load_module(path, _NAME)
        if not session.calls:
            raise InputError("the program launches no kernel of Triton")
        call = session.calls[0]
        devices = [load_device(name) for name in request.devices]
        return {
            "kernel": call.name,
            "code": "ptx",
            "estimates": [_estimate(call.profiles[item.name], item) for item in devices],
            "listing": [
                {"text": line, "line": None} for line in call.ptx.splitlines()[:_MOST_LINES]
            ],
        }
