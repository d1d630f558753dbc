"""Machine code as an input: cubins, fat binaries, objects, libraries and linked programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, UnsupportedInstruction
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.embedded_native import runs_on
from kernelcast.inputs.fat_binary import CodeEntry, CodeKind
from kernelcast.inputs.native import cubins, disassembler, tools
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.source_file import load_source
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.isa.types import ScalarType
from tests.kernelcast.inputs.test_fat_binary import container, entry, in_elf, needs_nvcc, run_nvcc
from tests.ptx_frontend.sass.native_programs import needs_tools

_CUBIN, _LZ4, _ZSTD = 2, 1 << 13, 1 << 15
_VARIANT_A = 1 << 20


def ptx(name: str, factor: int, number: int = 80) -> str:
    return f"""
.version 8.0
.target sm_{number}
.address_size 64
.visible .entry {name}(.param .u64 p) {{
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
  ld.global.u32 %r2, [%d3]; mul.lo.s32 %r3, %r2, {factor}; st.global.u32 [%d3], %r3; ret;
}}
"""


def cubin(name: str, factor: int, number: int = 80) -> bytes:
    """Integer arithmetic by the assembler: what a kernel multiplies by tells which code it is."""
    needs_tools(f"sm_{number}")
    return assemble(ptx(name, factor, number), f"sm_{number}", "k.ptx")


def factor_of(module: LoadedModule, name: str = "k") -> int:
    x = np.arange(32, dtype=np.int32)
    module[name].run(grid=1, block=32, args=[x])
    assert (x % np.arange(1, 33) >= 0).all()
    factor = int(x[1])
    np.testing.assert_array_equal(x, factor * np.arange(32))
    return factor


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    def make(content: bytes) -> Path:
        (tmp_path / "file").write_bytes(content)
        return tmp_path / "file"

    return make


def test_a_cubin_runs(write: Callable[[bytes], Path]) -> None:
    file = write(cubin("k", 7))
    module = kc.load(file)
    assert module["k"].kernel.machine is not None
    assert factor_of(module) == 7
    assert factor_of(kc.load(file, arch="sm_80")) == 7
    with pytest.raises(InputError, match="it is machine code for sm_80, not for sm_90"):
        kc.load(file, arch="sm_90")
    with pytest.raises(InputError, match="compiler options"):
        kc.load(file, options=["-DN=1"])


@pytest.mark.parametrize("holder", [bytes, in_elf])
@pytest.mark.parametrize("compression", [0, _LZ4, _ZSTD])
def test_machine_code_alone_runs(
    write: Callable[[bytes], Path], holder: Callable[[bytes], bytes], compression: int
) -> None:
    code = entry(cubin("k", 5), 80, _CUBIN, compression)
    assert factor_of(kc.load(write(holder(container([code]))))) == 5


def test_ptx_comes_first_until_an_architecture_has_machine_code_only(
    write: Callable[[bytes], Path],
) -> None:
    both = [
        entry(cubin("k", 80, 80), 80, _CUBIN),
        entry(cubin("k", 90, 90), 90, _CUBIN),
        entry(ptx("k", 75, 75).encode(), 75),
        entry(ptx("k", 7580).encode(), 80),
    ]
    file = write(container(both))
    assert factor_of(kc.load(file)) == 7580
    assert factor_of(kc.load(file, arch="sm_75")) == 75
    assert factor_of(kc.load(file, arch="sm_80")) == 7580
    assert factor_of(kc.load(file, arch="sm_90")) == 90
    file = write(container(both[:2]))
    assert factor_of(kc.load(file)) == 90
    assert factor_of(kc.load(file, arch="sm_80")) == 80


def test_each_unit_gives_what_it_has_and_the_kernel_that_runs_counts(
    write: Callable[[bytes], Path],
) -> None:
    units = [
        container([entry(cubin("k", 2), 80, _CUBIN)]),
        container([entry(cubin("other", 3), 80, _CUBIN)]),
        container([entry(ptx("k", 4).encode(), 80)]),
    ]
    module = kc.load(write(b"".join(units)))
    assert set(module) == {"k", "other"}
    assert (factor_of(module), factor_of(module, "other")) == (4, 3)


def test_code_of_one_architecture_only_is_asked_for_by_either_name(
    write: Callable[[bytes], Path],
) -> None:
    plain, special = (entry(cubin("k", factor, 90), 90, _CUBIN) for factor in (1, 2))
    flags = bytearray(special)
    flags[40:44] = (0x11 | _VARIANT_A).to_bytes(4, "little")
    file = write(container([plain, bytes(flags)]))
    assert factor_of(kc.load(file, arch="sm_90")) == 2
    assert factor_of(kc.load(file, arch="sm_90a")) == 2
    with pytest.raises(InputError, match="no code for sm_89 in it, but for sm_90, sm_90a"):
        kc.load(file, arch="sm_89")


def test_names_choose_kernels_so_that_the_rest_is_not_read(
    write: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [
        container([entry(cubin(f"_ZN3lib1{name}EPi", number), 80, _CUBIN)])
        for number, name in enumerate("abc", 1)
    ]
    file = write(b"".join(units))
    read: list[str] = []
    disassemble = disassembler.disassemble

    def watched(content: bytes, architecture: int, path: str, *rest: Any, **more: Any) -> str:
        read.append(path)
        return disassemble(content, architecture, path, *rest, **more)

    monkeypatch.setattr(cubins, "disassemble", watched)
    monkeypatch.setattr(cubins, "load_module", lambda _name: None)
    module = kc.load(file, names=["lib::b"])
    assert list(module) == ["_ZN3lib1bEPi"]
    assert factor_of(module, "lib::b") == 2
    assert read == [f"{file}[sm_80 #2]"]
    with pytest.raises(InputError, match="no kernel in it is called nothing"):
        kc.load(file, names=["nothing"])


def test_without_tools_kernels_of_ptx_stay(
    write: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = container([entry(cubin("machine", 2), 80, _CUBIN)])
    monkeypatch.setattr(tools, "_newest", lambda: None)
    with pytest.raises(InputError, match=r"pip install 'kernelcast\[native\]'"):
        kc.load(write(code))
    module = kc.load(write(code + container([entry(ptx("k", 9).encode(), 80)])))
    assert factor_of(module) == 9
    with pytest.raises(InputError, match="needs the disassembler"):
        module["machine"]


def test_modules_of_machine_code_are_kept_until_the_tools_change(
    write: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    file = write(cubin("k", 3))
    assert factor_of(kc.load(file)) == 3
    lowered: list[str] = []

    def watched(*arguments: object) -> Module:
        lowered.append("again")
        return Module("", {}, {})

    monkeypatch.setattr(cubins, "_lowered", watched)
    assert factor_of(kc.load(file)) == 3
    monkeypatch.setattr(cubins, "fingerprint", lambda _tool: ("another", 1, 1))
    assert not kc.load(file)
    assert lowered == ["again"]


_PROGRAM = """
extern __device__ float outside(float);
__global__ void alone(int *x) { x[threadIdx.x] *= 3; }
__global__ void calls(float *x) { x[threadIdx.x] = outside(x[threadIdx.x]); }
"""


@needs_nvcc
def test_relocatable_code_says_what_must_be_linked(tmp_path: Path) -> None:
    needs_tools()
    (tmp_path / "a.cu").write_text(_PROGRAM)
    run_nvcc(tmp_path, "-dc", "-cubin", "-arch=sm_80", "a.cu", "-o", "a.cubin")
    run_nvcc(tmp_path, "-dc", "-gencode", "arch=compute_80,code=sm_80", "a.cu", "-o", "a.o")
    for file in ("a.cubin", "a.o"):
        module = load_source(tmp_path / file)
        assert factor_of(module, "alone") == 3
        with pytest.raises(UnsupportedInstruction, match=r"'_Z7outsidef'.*link"):
            module["calls"]


@needs_nvcc
def test_a_library_and_a_program_of_machine_code(tmp_path: Path) -> None:
    needs_tools()
    (tmp_path / "k.cu").write_text("__global__ void k(int *x) { x[threadIdx.x] *= 6; }")
    (tmp_path / "main.cu").write_text("int main() {}")
    code = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")
    run_nvcc(tmp_path, *code, "-shared", "-Xcompiler=-fPIC", "k.cu", "-o", "libk.so")
    run_nvcc(tmp_path, *code, "-rdc=true", "k.cu", "main.cu", "-o", "program")
    for file in ("libk.so", "program"):
        for arch in ("sm_80", "sm_90"):
            module = kc.load(tmp_path / file, arch=arch)
            assert module["k"].kernel.target == arch
            assert factor_of(module) == 6


def test_devices_run_the_machine_code_that_a_driver_would_choose(
    write: Callable[[bytes], Path],
) -> None:
    file = write(
        container(
            [
                entry(cubin("k", 80, 80), 80, _CUBIN),
                entry(cubin("k", 86, 86), 86, _CUBIN),
                entry(ptx("k", 75, 75).encode(), 75),
            ]
        )
    )
    module = kc.load(file)
    assert factor_of(module) == 75
    assert module.native is not None
    for architecture, factor in ((75, 75), (80, 80), (86, 86), (89, 86), (90, 75)):
        kernel = module.native.kernel("k", architecture)
        assert kernel.machine is not None
        assert [item.type for item in kernel.parameters] == [ScalarType.U64]
        assert factor_of(LoadedModule(Module("k", {"k": kernel}, {}))) == factor
    with pytest.raises(InputError, match="no code of 'k' runs on sm_70"):
        module.native.kernel("k", 70)


@pytest.mark.parametrize(
    ("code", "architectures"),
    [
        ((CodeKind.CUBIN, 80, ""), {80, 86, 87, 89}),
        ((CodeKind.CUBIN, 86, ""), {86, 87, 89}),
        ((CodeKind.CUBIN, 90, "a"), {90}),
        ((CodeKind.CUBIN, 100, ""), {100, 103}),
        ((CodeKind.CUBIN, 100, "f"), {100, 103}),
        ((CodeKind.PTX, 86, ""), {86, 87, 89, 90, 100, 103, 120}),
    ],
)
def test_what_runs_where(code: tuple[CodeKind, int, str], architectures: set[int]) -> None:
    kind, number, variant = code
    found = CodeEntry(0, kind, number, variant, 0, 0, 0, 0)
    known = (70, 75, 80, 86, 87, 89, 90, 100, 103, 120)
    assert {item for item in known if runs_on(found, item)} == architectures
