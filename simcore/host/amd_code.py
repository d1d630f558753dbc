"""LLVM IR to machine code of AMD's GPUs, by LLVM in a process of its own.

A module that LLVM has no code for ends that process, not ours. One process serves one request: JSON
on its standard input, JSON on its standard output.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import CompilationError, LimitExceeded
from kernelcast.simcore.host.deadline import check_time, deadline_in

__all__ = ["AMD_ARCHITECTURES", "AmdCode", "generate_amd_code", "llvm_version", "serve"]

AMD_ARCHITECTURES = (
    "gfx803",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1201",
)
"""The architectures that code is generated for."""
_TRIPLE = "amdgcn-amd-amdhsa"
_SECONDS = 300
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from kernelcast.simcore.host.amd_code import serve; serve()"
)
_PROBLEM = ("LLVM ERROR: ", "error: ", "fatal error: ")


@dataclass(frozen=True, slots=True)
class AmdCode:
    """`object`: a relocatable code object. `assembly`: the same as text, as LLVM prints it."""

    object: bytes
    assembly: str


def llvm_version() -> tuple[int, ...]:
    """The LLVM that generates code."""
    import llvmlite.binding as llvm  # who asks for no code needs none of it

    return tuple(llvm.llvm_version_info)


def generate_amd_code(
    ir: str,
    libraries: Sequence[str],
    architecture: str,
    kernel: str,
    path: str,
    features: str = "",
) -> AmdCode:
    """Machine code of one kernel of a module for `gfx90a` and its like.

    What it calls of the `libraries`, modules too, is linked. `features` of the target are LLVM's.
    CompilationError, naming the kernel, where LLVM has no code for it or a function is in none of
    the libraries.
    """
    request = {
        "ir": ir,
        "libraries": list(libraries),
        "cpu": architecture,
        "kernel": kernel,
        "features": features,
    }
    command = [sys.executable, "-c", _START, json.dumps(sys.path)]
    deadline = deadline_in(_SECONDS)
    assert deadline is not None
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            sent = json.dumps(request).encode("utf-8", "surrogatepass")
            found, log = process.communicate(sent, timeout=deadline.remaining_s)
        except subprocess.TimeoutExpired:
            check_time(f"generating code of {kernel}")
            raise LimitExceeded(
                f"{path}: LLVM took longer than {_SECONDS} s for {kernel}"
            ) from None
        finally:
            process.kill()
    what = f"{path}: no code of {kernel} for {architecture}"
    if process.returncode:
        raise CompilationError(f"{what}: {_reason(log.decode('utf-8', 'replace'))}")
    answer = json.loads(found)
    if "refused" in answer:
        raise CompilationError(f"{what}: {answer['refused']}")
    return AmdCode(base64.b64decode(answer["object"]), answer["assembly"])


def _reason(log: str) -> str:
    """The line in which LLVM says what is wrong."""
    for line in log.splitlines():
        for word in _PROBLEM:
            if word in line:
                return line.partition(word)[2]
    return "LLVM stopped"


def serve() -> None:
    """The other process: answers one request."""
    import llvmlite.binding as llvm

    request = json.load(sys.stdin)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        answer = _generated(llvm, request)
    except RuntimeError as error:
        answer = {"refused": " ".join(str(error).split())}
    json.dump(answer, sys.stdout)


def _generated(llvm: Any, request: dict[str, Any]) -> dict[str, str]:
    module = llvm.parse_assembly(request["ir"])
    for library in request["libraries"]:
        module.link_in(llvm.parse_assembly(library))
    for function in module.functions:
        if not function.is_declaration and function.name != request["kernel"]:
            function.linkage = "internal"
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu=request["cpu"], features=request["features"], opt=3, reloc="pic"
    )
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    missing = [f.name for f in module.functions if f.is_declaration and not _is_known(f.name)]
    if missing:
        return {"refused": f"there is no function {missing[0]!r} for AMD's GPUs here"}
    optimised = str(module)
    machine.set_asm_verbosity(True)
    return {
        "object": base64.b64encode(machine.emit_object(module)).decode(),
        "assembly": machine.emit_assembly(llvm.parse_assembly(optimised)),
    }


def _is_known(name: str) -> bool:
    return name.startswith("llvm.")
