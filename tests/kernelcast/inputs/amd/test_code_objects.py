"""Code objects of AMD's GPUs: what runs is what LLVM's own text of the same code gives."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, KernelcastError
from kernelcast.execution.code import AMD_EXECUTED
from kernelcast.execution.instruction_mix import instruction_mix
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.code_objects import load_code_objects, module_of_image
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.ptx_frontend.amdgcn.code_image import CodeImage, read_image
from kernelcast.simcore.host.amd_code import generate_amd_code
from kernelcast.simcore.host.amd_disassembly import LLVM_VARIABLE, disassembled, llvm_library, reads
from kernelcast.simcore.isa.ir.machine_code import MachineCode, MachineInstruction
from tests.drawn_cases import ALL_CASES
from tests.kernelcast.inputs.amd.test_executed_code import (
    NO_MATRIX_CORES,
    ORDERED_OTHERWISE,
    lanes_of,
)
from tests.kernelcast.inputs.hip.suite import CASES, Case, loaded

if not llvm_library():
    pytest.skip("no LLVM; CI has it", allow_module_level=True)

LINKER = shutil.which("ld.lld-19") or shutil.which("ld.lld")


@cache
def code_object(file: str, entry: str, architecture: str) -> bytes:
    """What LLVM emits of a kernel of the suite, as an object that is not linked."""
    module = loaded(file)
    assert isinstance(module.native, GeneratedCode)
    (symbol,) = (name for name in module if entry in name)
    return module.native.code(symbol, architecture).object


def linked(content: bytes, folder: Path) -> bytes:
    """A shared object, as `.hsaco` files are."""
    if LINKER is None:
        pytest.skip("no linker; CI has it")
    (folder / "k.o").write_bytes(content)
    subprocess.run([LINKER, "-shared", "-o", folder / "k.hsaco", folder / "k.o"], check=True)
    return (folder / "k.hsaco").read_bytes()


def bundle(parts: dict[str, bytes]) -> bytes:
    """A bundle as clang's offload bundler makes it, its entries one behind the other."""
    names = [f"hipv4-amdgcn-amd-amdhsa--{name}".encode() for name in parts]
    start = 24 + 8 + sum(24 + len(name) for name in names)
    head, body = struct.pack("<Q", len(parts)), b""
    for name, part in zip(names, parts.values(), strict=True):
        head += struct.pack("<QQQ", start + len(body), len(part), len(name)) + name
        body += part
    return b"__CLANG_OFFLOAD_BUNDLE__" + head + body


def facts(code: MachineCode) -> Iterator[MachineInstruction]:
    """All that is known of each instruction, but what branches call the places they lead to.

    A wait at a barrier has -1 with and without its sign. A load without a distance has zero or a
    register that is zero, as LLVM writes it.
    """
    for item in code.instructions.values():
        yield (
            replace(item, text="")
            if re.match(r"s_c?branch|s_load|s_barrier_wait", item.opcode)
            else item
        )


@pytest.mark.drawn(5)
@pytest.mark.parametrize("is_linked", [False, True], ids=["object", "hsaco"])
@pytest.mark.parametrize("architecture", [name for name in AMD_EXECUTED if reads(name)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_results_and_instructions_are_those_of_the_text(
    case: Case, architecture: str, is_linked: bool, tmp_path: Path
) -> None:
    """The text has labels, names and settings of its own; here they come from ELF and words."""
    try:
        content = code_object(case.file, case.entry, architecture)
    except CompilationError:
        assert architecture in NO_MATRIX_CORES
        assert case.entry == "matrix_core_product"
        return
    module = load_code_objects(linked(content, tmp_path) if is_linked else content, "k.hsaco")
    (symbol,) = (name for name in module if case.entry in name)
    kernel = module[symbol].kernel
    native = loaded(case.file).native
    assert isinstance(native, GeneratedCode)
    text = native.amd_kernel(symbol, architecture)
    assert kernel.machine is not None
    assert text.machine is not None
    if case.entry not in ORDERED_OTHERWISE:
        assert list(facts(kernel.machine)) == list(facts(text.machine))
    assert kernel.machine.registers == text.machine.registers
    assert kernel.shared_bytes == text.shared_bytes
    lanes = lanes_of(architecture)
    found = case.run({case.entry: RunnableKernel(kernel)}, engine="jit", warp_width=lanes)
    expected = case.run({case.entry: RunnableKernel(text)}, engine="jit", warp_width=lanes)
    assert all(np.array_equal(value, found[name]) for name, value in expected.items())


def test_code_that_needs_a_newer_llvm_is_told() -> None:
    """LLVM 20 was the first that knew gfx950."""
    content = code_object("arrays", "vector_add", "gfx950")
    if reads("gfx950"):
        assert list(load_code_objects(content, "k.hsaco")) == ["vector_add"]
    else:
        told = r"gfx950 is read by LLVM 20 or newer, which is not here: apt install clang-20"
        with pytest.raises(InputError, match=told):
            load_code_objects(content, "k.hsaco")


def case_named(entry: str) -> Case:
    return next(case for case in CASES if case.entry == entry)


def test_a_bundle_has_the_code_of_each_gpu(tmp_path: Path) -> None:
    """Each GPU runs its own; one without its own runs that of the newest, and is told so."""
    case = case_named("vector_add")
    parts = {name: code_object(case.file, case.entry, name) for name in ("gfx803", "gfx90a")}
    file = tmp_path / "k.hipfb"
    file.write_bytes(bundle(parts))
    kernel = kc.load(file)["vector_add"]
    arguments = list(case.arguments().values())
    trace = kernel.run(
        grid=case.grid,
        block=case.block,
        args=arguments,
        devices=["r9-nano", "mi210", "mi100"],
        code="auto",
    )
    codes = {name: trace.profile(name).code for name in ("r9-nano", "mi210", "mi100")}
    assert codes == {"r9-nano": "gfx803", "mi210": "gfx90a", "mi100": "gfx90a"}
    notes = trace.profile("mi100").assumptions
    assert any(note.startswith("machine code of gfx90a was executed, not its") for note in notes)
    with pytest.raises(InputError, match="there is code for gfx803, gfx90a, not for gfx908"):
        kernel.run(
            grid=case.grid, block=case.block, args=arguments, devices=["mi100"], code="native"
        )
    chosen = load_code_objects(file.read_bytes(), "k", "gfx803")["vector_add"]
    assert chosen.kernel.code == "gfx803"


def test_estimates_are_those_of_the_source_that_was_compiled(tmp_path: Path) -> None:
    case = case_named("vector_add")
    file = tmp_path / "k.hsaco"
    file.write_bytes(linked(code_object(case.file, case.entry, "gfx90a"), tmp_path))
    seconds = []
    for module in (kc.load(file), loaded(case.file)):
        arguments = list(case.arguments().values())
        trace = module["vector_add"].run(
            grid=case.grid, block=case.block, args=arguments, devices=["mi210"], code="native"
        )
        seconds.append(kc.estimate(trace.profile("mi210")).time_s)
        assert instruction_mix(trace.data).warp_instructions > 0
    assert seconds[0] == seconds[1]


def test_what_is_not_executed_says_what_it_holds(tmp_path: Path) -> None:
    case = case_named("vector_add")
    file = tmp_path / "k.hsaco"
    code = code_object(case.file, case.entry, "gfx1100")
    other = code.replace(b"--gfx1100", b"--gfx1200")
    file.write_bytes(other)
    with pytest.raises(InputError, match="AMD's gfx1200, with the kernels vector_add: only that"):
        kc.load(file)
    with pytest.raises(InputError, match="there is code for gfx1200, not for gfx90a"):
        kc.load(file, arch="gfx90a")


def test_wavefronts_of_64_lanes_are_refused_where_32_are_usual(tmp_path: Path) -> None:
    case = case_named("vector_add")
    content = code_object(case.file, case.entry, "gfx1030")
    image = read_image(content)
    (code,) = image.kernels.values()
    wide = replace(code, settings={**code.settings, "wavefront_size32": 0})
    image = replace(image, kernels={code.name: wide})
    module = module_of_image(image, [[]], "k.hsaco")
    with pytest.raises(KernelcastError, match="is for wavefronts of 64 lanes"):
        raise module.rejected[code.name][0]


def test_a_compressed_bundle_says_so(tmp_path: Path) -> None:
    file = tmp_path / "k.hipfb"
    file.write_bytes(b"CCOB" + bytes(100))
    with pytest.raises(InputError, match="the bundle is compressed"):
        kc.load(file)


def test_without_llvm_it_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LLVM_VARIABLE, str(tmp_path / "libLLVM.so"))
    case = case_named("vector_add")
    with pytest.raises(InputError, match="LLVM 17 or newer, which is not here: apt install"):
        load_code_objects(code_object(case.file, case.entry, "gfx90a"), "k.hsaco")


def test_a_word_that_is_no_instruction_refuses_its_kernel() -> None:
    case = case_named("vector_add")
    content = code_object(case.file, case.entry, "gfx90a")
    image = read_image(content)
    (code,) = image.kernels.values()
    broken = content.replace(code.content, b"\xff\xff\xff\xff" + code.content[4:])
    module = load_code_objects(broken, "k.hsaco")
    with pytest.raises(KernelcastError, match="unknown"):
        module["vector_add"]


EXCHANGED = """target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
@table = private addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %which) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %x = load i32, ptr addrspace(1) %p
  %s = call i32 @llvm.amdgcn.update.dpp.i32(i32 5, i32 %x, i32 273, i32 15, i32 15, i1 false)
  %m = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 320, i32 15, i32 15, i1 true)
  %a = getelementptr i32, ptr addrspace(4) @table, i32 %which
  %t = load i32, ptr addrspace(4) %a
  %u = mul i32 %m, %t
  %r = add i32 %s, %u
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %q
  ret void
}
"""
"""`row_shr:1` (273), `row_mirror` (320), and a constant that has no name for others."""


@pytest.mark.parametrize("is_linked", [False, True], ids=["object", "hsaco"])
@pytest.mark.parametrize("architecture", ["gfx803", "gfx90a", "gfx1030", "gfx1100"])
def test_lanes_exchange_and_constants_are_found(
    architecture: str, is_linked: bool, tmp_path: Path
) -> None:
    content = generate_amd_code(EXCHANGED, [], architecture, "k", "k.ll").object
    module = load_code_objects(linked(content, tmp_path) if is_linked else content, "k.hsaco")
    x, out = np.arange(64, dtype=np.uint32) * 3 + 1, np.zeros(64, np.uint32)
    module["k"].run(grid=1, block=64, args=[out, x, 2], warp_width=lanes_of(architecture))
    lane = np.arange(64)
    shifted = np.where(lane % 16 > 0, x[lane - 1], 5)
    assert np.array_equal(out, shifted + 30 * x[lane ^ 15])


Damage = Callable[[bytes, np.random.Generator], bytes]


def _bytes_changed(content: bytes, random: np.random.Generator) -> bytes:
    damaged = bytearray(content)
    for place in random.integers(0, len(damaged), random.integers(1, 9)):
        damaged[place] = random.integers(0, 256)
    return bytes(damaged)


def _cut(content: bytes, random: np.random.Generator) -> bytes:
    return content[: random.integers(0, len(content))]


def _code_changed(content: bytes, random: np.random.Generator) -> bytes:
    """Words of the code itself."""
    (code, *_) = read_image(content).kernels.values()
    start = content.index(code.content)
    damaged = bytearray(content)
    for _ in range(random.integers(1, 5)):
        place = start + 4 * int(random.integers(0, len(code.content) // 4))
        damaged[place : place + 4] = random.bytes(4)
    return bytes(damaged)


DAMAGES: Sequence[Damage] = (_bytes_changed, _cut, _code_changed)
MANY = 10_000 if ALL_CASES else 200


def test_damaged_code_objects_are_read_or_refused() -> None:
    """Whatever bytes there are: kernels, or an error of ours; LLVM sees many objects at a time."""
    random = np.random.default_rng(17)
    samples = [
        code_object(case.file, case.entry, architecture)
        for case in map(case_named, ("vector_add", "fft512", "spmv_csr_scalar"))
        for architecture in ("gfx803", "gfx90a", "gfx1100")
    ]
    images: dict[str, list[CodeImage]] = {}
    counts = Counter[str]()
    for number in range(MANY):
        content = DAMAGES[number % len(DAMAGES)](samples[number % len(samples)], random)
        try:
            image = read_image(content)
        except InputError:
            counts["damaged"] += 1
            continue
        if image.architecture not in AMD_EXECUTED:  # a damaged name, which is never disassembled
            counts["damaged"] += 1
            continue
        images.setdefault(image.architecture, []).append(image)
    for architecture, found in images.items():
        codes = [[(k.address, k.content) for k in image.kernels.values()] for image in found]
        lines = iter(disassembled([part for parts in codes for part in parts], architecture))
        for image, parts in zip(found, codes, strict=True):
            module = module_of_image(image, [next(lines) for _ in parts], "k.hsaco")
            reasons = [reason for errors in module.rejected.values() for reason in errors]
            assert all(isinstance(reason, KernelcastError) for reason in reasons)
            counts["refused" if reasons else "read"] += 1
    assert sum(counts.values()) == MANY
    assert min(counts["damaged"], counts["refused"], counts["read"]) > 0
