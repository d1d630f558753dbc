"""Compiled code for hosts other than this one: objects for AArch64, and which hosts will do."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.runtime.generated_code import generate
from kernelcast.simcore.host import llvm
from kernelcast.simcore.isa.ir.kernel import Kernel

ROOT = Path(__file__).resolve().parents[4]
SOURCES = sorted(ROOT.glob("benchmarks/kernels/*.ptx")) + sorted(ROOT.glob("examples/*/*.ptx"))
_ELF64, _LITTLE, _AARCH64, _RELOCATABLE = 2, 1, 183, 1


def _facts(kernel: Kernel, width: int) -> LaunchFacts:
    """A grid of 16 x 16 threads that any kernel can be compiled for; integers are left open."""
    pointers = tuple(p.offset for p in kernel.parameters if p.size == 8)
    return LaunchFacts(width, (4, 4, 1), (16, 16, 1), kernel.shared_bytes, 0, (), pointers)


@pytest.mark.parametrize("number", range(len(SOURCES)), ids=lambda n: SOURCES[n].stem)
def test_an_object_for_aarch64(number: int) -> None:
    """Each kernel at one of the widths, with and without records: a linkable ELF file."""
    kernels = read_ptx(SOURCES[number].read_text(), SOURCES[number].name).kernels
    kernel = next(iter(kernels.values()))
    width, records = (8, 16, 32, 64)[number % 4], number % 3 > 0
    source = generate(kernel, _facts(kernel, width), dict.fromkeys(kernel.symbols, 0), records)
    data = llvm.emit_object(source.ir, 0, "aarch64-linux-gnu")
    assert data[:6] == b"\x7fELF" + bytes((_ELF64, _LITTLE))
    assert struct.unpack_from("<HH", data, 16) == (_RELOCATABLE, _AARCH64)
    assert b"run\0" in data


@pytest.mark.parametrize(
    ("architecture", "features", "will_do"),
    [
        ("x86_64", "+sse2,+avx,+avx2,+fma,+f16c,+bmi2", True),
        ("x86_64", "+sse2,+avx,-avx2,+fma,+f16c", False),
        ("x86_64", "+avx2,+f16c", False),
        ("aarch64", "+neon,+fp-armv8", True),
        ("arm64", "+neon", True),
        ("aarch64", "+fp-armv8,-neon", False),
        ("riscv64", "+v", False),
    ],
)
def test_hosts_with_vectors(
    monkeypatch: pytest.MonkeyPatch, architecture: str, features: str, will_do: bool
) -> None:
    monkeypatch.setattr(llvm, "_host", lambda: (architecture, "cpu", features))
    assert llvm.host_supports_vectors() is will_do
