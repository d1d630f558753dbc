"""Whole files in the styles of several compilers, checked against counts made from the text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend import read_module, read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Exit, Kernel, Load, Module, Parameter
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.launch import Launch

DATA = Path(__file__).parent / "data"
FILES = ("nvcc_tour", "nvcc_lines", "nvcc_debug", "llvm_window", "triton_style")
UNREACHABLE = {"_Z4gridPii": Counter({"bra.uni": 1})}
"""Instructions that no path reaches: the branch after `trap`."""


INLINED = {"_Z6callerPi": "_Z6helperii"}
"""Functions that kernels call."""


def read(name: str) -> Module:
    return read_module(DATA / f"{name}.ptx")


def bodies(text: str) -> dict[str, str]:
    """The text of every entry's body, comments removed."""
    text = re.sub(r"//[^\n]*", "", text)
    parts = re.split(r"\.visible \.entry (\w+)\(", text)[1:]
    return {
        name: rest[rest.index("{") + 1 : re.search(r"\n\}", rest).start()]  # type: ignore[union-attr]
        for name, rest in zip(parts[::2], parts[1::2], strict=True)
    }


def functions(text: str) -> dict[str, str]:
    """The text of every device function's body, comments removed."""
    text = re.sub(r"//[^\n]*", "", text)
    found = re.finditer(r"\.func\s*\([^)]*\)\s*(\w+)\([^)]*\)\s*\{(.*?)\n\}", text, re.S)
    return {function[1]: function[2] for function in found}


def mnemonics(body: str) -> Counter[str]:
    """The first word of every statement of a body that is no directive, guards left out."""
    body = re.sub(r"(?m)^\s*\.loc[^\n]*|[$\w]+:", "", body)
    body = re.sub(r"\{[^{};]*\}", "vector", body)  # what remains of braces opens or closes scopes
    statements = [re.sub(r"^@\S+\s+", "", s.strip()) for s in re.split(r"[;{}]", body)]
    return Counter(s.split()[0] for s in statements if s and s[0] != ".")


@pytest.mark.parametrize("name", FILES)
def test_every_instruction_of_the_text_is_in_the_kernel(name: str) -> None:
    module = read(name)
    text = (DATA / f"{name}.ptx").read_text()
    texts = bodies(text)
    assert sorted(texts) == sorted([*module.kernels, *module.rejected])
    for kernel_name, kernel in module.kernels.items():
        expected = mnemonics(texts[kernel_name]) - UNREACHABLE.get(kernel_name, Counter())
        if kernel_name in INLINED:
            expected += mnemonics(functions(text)[INLINED[kernel_name]])
        assert Counter(i.mnemonic for i in kernel.instructions) == expected


@pytest.mark.parametrize("name", FILES)
def test_kernels_are_well_formed(name: str) -> None:
    for kernel in read(name).kernels.values():
        check(kernel)


def check(kernel: Kernel) -> None:
    assert [i.pc for i in kernel.instructions] == list(range(len(kernel.instructions)))
    assert [b.index for b in kernel.blocks] == list(range(len(kernel.blocks)))
    assert all(0 <= s < len(kernel.blocks) for b in kernel.blocks for s in b.successors)
    assert any(isinstance(b.terminator, Exit) for b in kernel.blocks)
    assert [r.index for r in kernel.registers] == list(range(len(kernel.registers)))
    for instruction in kernel.instructions:
        start = instruction.span.column - 1
        line = instruction.span.text
        assert line[start:].split()[0].rstrip(";") == instruction.mnemonic


def test_calls_and_shuffles_of_the_compiler_run() -> None:
    module = read("nvcc_tour")
    assert not module.rejected
    assert len(module.kernels) == 11
    launch = (1, 1, 1), (32, 1, 1)
    a = np.arange(7, 39, dtype=np.int32)
    execute(module.kernels["_Z8shufflerPi"], Launch(*launch, (a,)))
    assert a.tolist() == [*range(8, 39), 38]
    a[:2] = 21, 4
    execute(module.kernels["_Z6callerPi"], Launch(*launch, (a,)))
    assert a.tolist() == [21 * 4 + 21 // 4] * 32


def test_launch_bounds_shared_and_struct_parameters() -> None:
    kernels = read("nvcc_tour").kernels
    tile_sum = kernels["_Z8tile_sumPdPKdi"]
    assert (tile_sum.max_threads, tile_sum.shared_bytes) == ((128, 1, 1), 1024)
    by_struct = kernels["_Z9by_struct4WavePsi"]
    assert by_struct.parameters[0] == Parameter(
        "_Z9by_struct4WavePsi_param_0", ScalarType.B8, 0, 32, is_struct=True
    )
    assert [p.offset for p in by_struct.parameters] == [0, 32, 40]
    histogram = kernels["_Z9histogramPjPKhiPi"]
    assert histogram.uses_dynamic_shared
    assert histogram.symbols["where"].relocations == {0: "counter"}
    assert kernels["_Z11stack_arrayPiiat"].local_bytes == 48
    triton = read("triton_style").kernels["row_scale"]
    assert triton.required_threads == (64, 1, 1)
    assert [p.is_pointer for p in triton.parameters] == [True, True, False, True, True]


def test_source_lines_of_the_higher_language() -> None:
    kernel = read("nvcc_lines").kernels["_Z5linesPfi"]
    source = (DATA / "nvcc_lines.cu").read_text().split("\n")
    by_line: dict[int, set[str]] = {}
    for instruction in kernel.instructions:
        if instruction.origin is not None:
            assert instruction.origin.file == "nvcc_lines.cu"
            by_line.setdefault(instruction.origin.line, set()).add(instruction.mnemonic)
    assert by_line[1 + source.index("    __syncthreads();")] == {"bar.sync"}
    assert "cvt.rn.f32.s32" in by_line[1 + source.index("    return 0.5f * i;")]
    assert any(i.origin is None for i in kernel.instructions)  # `.loc 1 0 0`


def test_nvcc_and_debug_build_compute_the_same() -> None:
    """Generic addresses and unsimplified control flow in one, neither in the other."""
    values = np.random.default_rng(5).normal(size=32).astype(np.float32)
    expected = (values * np.float32(0.5) * np.arange(32, dtype=np.float32))[::-1]
    for name in ("nvcc_lines", "nvcc_debug"):
        y = values.copy()
        execute(read(name).kernels["_Z5linesPfi"], Launch((1, 1, 1), (32, 1, 1), (y, 32)))
        np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_kernel_from_llvm_runs() -> None:
    x = np.random.default_rng(6).normal(size=128).astype(np.float32)
    out = np.zeros(128, np.float32)
    kernel = read("llvm_window").kernels["window"]
    execute(kernel, Launch((2, 1, 1), (64, 1, 1), (out, x, 3.0, 128)))
    digits = np.array([3, 1, 4, 0, 0, 0, 0, 0], np.float32)
    expected = x[np.arange(128) ^ 1] * np.float32(3) + digits[np.arange(128) % 8]
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_unused_debug_sections_and_hidden_parameters_of_triton() -> None:
    kernel = read("triton_style").kernels["row_scale"]
    loads = [i for i in kernel.instructions if isinstance(i, Load)]
    guarded = [i for i in loads if i.guard is not None]
    assert [i.address.space for i in guarded] == [AddressSpace.GLOBAL]
    assert guarded[0].destinations[0] is not None
    assert guarded[0].origin is not None
    assert (guarded[0].origin.file, guarded[0].origin.line) == ("row_scale.py", 15)


@pytest.mark.parametrize(
    ("parameter", "statement", "reason"),
    [
        (".param .b128 t", "ret;", "parameters of type .b128"),
        (".param .u64 t", "{ .reg .b64 x; mov.u64 x, list; }", "an address of 32 bits"),
        (".param .u64 t", ".reg .v2 .b128 x;", "registers of type .v2.b128"),
    ],
)
def test_declarations_that_cannot_be_executed_reject_their_kernel(
    parameter: str, statement: str, reason: str
) -> None:
    module = read_ptx(
        ".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 a; .global .u32 list = a;\n"
        f".entry bad({parameter}) {{ {statement} }}\n.entry good() {{ ret; }}",
        "k.ptx",
    )
    assert list(module.kernels) == ["good"]
    (found,) = module.rejected["bad"]
    assert reason in str(found)


def test_every_reason_is_named_once_at_its_first_place() -> None:
    text = (
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() {\n.reg .b32 %r<3>;\n"
        "wgmma.fence;\nvadd.u32 %r1, %r2;\nvadd.u32 %r2, %r1;\nret; }\n"
        ".entry good() { ret; }"
    )
    module = read_ptx(text, "k.ptx")
    assert list(module.kernels) == ["good"]
    places = [
        (e.span.line, e.message.split("'")[1])
        for e in module.rejected["k"]
        if isinstance(e, UnsupportedInstruction) and e.span
    ]
    assert places == [(6, "wgmma.fence"), (7, "vadd.u32")]
