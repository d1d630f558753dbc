"""Compiled code from textual LLVM IR, and IR as LLVM prints it.

Objects are kept on disk under a hash of everything that they depend on: the IR, the host's CPU and
features, the optimization level and the version of LLVM.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from kernelcast.simcore.host.compile_process import emit_object_apart
from kernelcast.simcore.host.disk_cache import is_kept, read_checked, write_checked
from kernelcast.simcore.host.stack_frames import frame_bytes

__all__ = [
    "CAUTIOUS",
    "LARGE_IR",
    "QUICK",
    "CompiledModule",
    "Processor",
    "common_processor",
    "compile_module",
    "emit_object",
    "host_supports_vectors",
    "is_compiled",
    "link_entry",
    "load_object",
    "printed_module",
    "runs_common_code",
    "serve",
]

LARGE_IR = 250_000
"""Characters: compiling more takes longer than a second."""
QUICK = 1
"""The optimization level of few passes: half of the time to compile, code nearly as fast."""
CAUTIOUS = 4
"""The level of QUICK without numbering values, which ends LLVM 22 over some code."""
_COMMON = {
    "x86_64": (
        "x86-64-v3",
        *("avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt"),
        *("mmx", "movbe", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3"),
        "xsave",
    ),
    "aarch64": ("generic",),
    "arm64": ("generic",),
}
"""The processor of each architecture whose code nearly every machine runs; what it has to have."""
_ALWAYS_NEON = ("aarch64", "arm64")  # LLVM does not always list what every such host has
_REQUIRED = {"x86_64": ("avx2", "fma", "f16c"), "aarch64": ("neon",), "arm64": ("neon",)}


class Processor(NamedTuple):
    """What code is made for: LLVM's name of a processor and its features, separated by commas."""

    name: str
    features: str


class CompiledModule:
    """Compiled functions of one module; they live as long as this object."""

    def __init__(self, engine: Any, code: Sequence[bytes]) -> None:
        self._engine = engine
        self._code = code

    @cached_property
    def stack_bytes(self) -> int:
        """The stack that a call takes at most, but for small frames and what it calls outside."""
        return sum(frame_bytes(text, _host()[0]) for text in self._code)

    def address(self, name: str) -> int:
        """The address of a function of the module."""
        return int(self._engine.get_function_address(name))


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _host() -> tuple[str, str, str]:
    """(architecture, CPU, features) of this machine."""
    triple = str(llvm.get_process_triple())
    features = llvm.get_host_cpu_features()
    return triple.split("-")[0], str(llvm.get_host_cpu_name()), str(features.flatten())


def host_supports_vectors() -> bool:
    """Whether warp-wide vectors map to this machine: x86-64-v3 or better, or AArch64 with NEON."""
    architecture, _, features = _host()
    needed = _REQUIRED.get(architecture)
    enabled = features.split(",")
    if needed is None:
        return False
    if architecture in _ALWAYS_NEON:
        return not any(f"-{name}" in enabled for name in needed)
    return all(f"+{name}" in enabled for name in needed)


@cache
def common_processor() -> Processor:
    """A processor whose code this machine runs and most others do; its own, where it lacks that."""
    architecture, name, features = _host()
    if runs_common_code():
        common, *needed = _COMMON[architecture]
        return Processor(common, ",".join(f"+{feature}" for feature in needed))
    return Processor(name, features)


def runs_common_code() -> bool:
    """Whether `common_processor` is what most machines are, and not this one's own."""
    architecture, _, features = _host()
    if architecture not in _COMMON:
        return False
    return {f"+{name}" for name in _COMMON[architecture][1:]} <= set(features.split(","))


def compile_module(ir: str, optimization: int = 2) -> CompiledModule:
    """Compiles IR for this machine, or loads the object of an earlier run.

    `optimization` 0, 2 and 3 as for a C compiler, `QUICK` and `CAUTIOUS`. Raises RuntimeError for
    IR that does not verify: a bug of the caller. Large IR is compiled in another process, up to the
    deadline.
    """
    _initialize()
    name = _cache_name(ir, optimization)
    data = read_checked(name)
    if data is None:
        emit = emit_object if len(ir) < LARGE_IR else emit_object_apart
        data = emit(ir, optimization)
        write_checked(name, data)
    return load_object(data)


def load_object(data: bytes) -> CompiledModule:
    """Loads an object file that was made for this machine, or for what it can do at least."""
    _initialize()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(None, 0))
    compiled = llvm.ObjectFileRef.from_data(data)
    texts = [section.data() for section in compiled.sections() if section.is_text()]
    engine.add_object_file(compiled)
    engine.finalize_object()
    return CompiledModule(engine, texts)


def is_compiled(ir: str, optimization: int = 2) -> bool:
    """Whether an earlier run left the object."""
    _initialize()
    return is_kept(_cache_name(ir, optimization))


def emit_object(ir: str, optimization: int = 2, triple: str | None = None) -> bytes:
    """An object file for this machine, or for another `triple` with its plain vector unit."""
    _initialize()
    if triple is not None:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    machine = _machine(triple, QUICK if optimization == CAUTIOUS else optimization)
    module = llvm.parse_assembly(ir)
    module.triple = triple or llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    module.verify()
    if optimization in (QUICK, CAUTIOUS):
        _optimize_quickly(module, machine, numbers_values=optimization == QUICK)
    elif optimization:
        tuning = llvm.create_pipeline_tuning_options(speed_level=optimization)
        tuning.loop_vectorization = False
        tuning.slp_vectorization = False
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _optimize_quickly(module: Any, machine: Any, *, numbers_values: bool) -> None:
    """Variables in registers, common values, folded operations: most of what level 2 gains."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    if numbers_values:
        passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def link_entry(entry_ir: str, ir: str, entry: str, processor: Processor) -> bytes:
    """An object file of `entry_ir`, whose function `entry` calls what is in `ir`, for a processor.

    The code is as it stands: it has been optimized. RuntimeError where it needs functions of other
    libraries than those of C.
    """
    _initialize()
    module = llvm.parse_assembly(entry_ir)
    module.link_in(llvm.parse_assembly(ir))
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration and part.name != entry:
            part.linkage = "internal"
    target = llvm.Target.from_default_triple()
    cpu, features = processor
    machine = target.create_target_machine(cpu=cpu, features=features, opt=3, jit=True)
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes.run(module, builder)
    needed = [f.name for f in module.functions if f.is_declaration]
    foreign = [name for name in needed if name.startswith(("Py", "_Py", "NRT_", "numba_"))]
    if foreign:
        raise RuntimeError(f"compiled code needs {', '.join(foreign)}")
    return bytes(machine.emit_object(module))


def printed_module(content: bytes, is_text: bool) -> str:
    """A module as this version of LLVM prints it, from bitcode or text of an older one too.

    RuntimeError for what LLVM does not take. LLVM may end the process over damaged bitcode:
    `ir_process` calls this in another one.
    """
    context = llvm.create_context()
    if is_text:
        module = llvm.parse_assembly(content.decode("utf-8", "replace"), context)
    else:
        module = llvm.parse_bitcode(content, context)
    module.verify()
    return str(module)


def _machine(triple: str | None, optimization: int) -> Any:
    if triple is not None:
        target = llvm.Target.from_triple(triple)
        return target.create_target_machine(opt=optimization, reloc="pic", codemodel="default")
    _, cpu, features = _host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=optimization, jit=True)


def _cache_name(ir: str, optimization: int) -> str:
    digest = hashlib.sha256(ir.encode())
    digest.update(repr((_host(), optimization, llvm.llvm_version_info)).encode())
    return f"{digest.hexdigest()}.o"


def serve() -> None:
    """Compiles the module on standard input to an object on standard output."""
    optimization, memory = int(sys.argv[2]), int(sys.argv[3])
    if memory and sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard != resource.RLIM_INFINITY:
            memory = min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.buffer.write(emit_object(sys.stdin.buffer.read().decode(), optimization))
