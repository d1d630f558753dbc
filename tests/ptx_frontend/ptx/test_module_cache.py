"""Large files, and all of LLVM IR, are read once; damage and other sources are never believed."""

from __future__ import annotations

import cProfile
import hashlib
import hmac
import io
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from kernelcast import ptx_frontend
from kernelcast.errors import IrSyntaxError
from kernelcast.inputs.llvm_ir import read_ir
from kernelcast.ptx_frontend import read_module, read_ptx
from kernelcast.ptx_frontend.ptx import module_cache
from kernelcast.simcore.host.disk_cache import write_checked
from kernelcast.simcore.isa.ir.kernel import Module

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """The tour of a compiler with a comment that makes it large enough to be kept."""
    path = tmp_path / "large.ptx"
    padding = "// padding\n" * (module_cache.SMALLEST_CACHED_BYTES // 11 + 1)
    path.write_text((DATA / "nvcc_tour.ptx").read_text() + padding)
    return path


def check_equal(found: Module, expected: Module) -> None:
    assert found.path == expected.path
    assert list(found.kernels) == list(expected.kernels)
    for name, kernel in expected.kernels.items():
        for field in fields(kernel):
            assert getattr(found.kernels[name], field.name) == getattr(kernel, field.name)
        opcodes = [getattr(i, "opcode", None) for i in kernel.instructions]
        found_opcodes = [getattr(i, "opcode", None) for i in found.kernels[name].instructions]
        assert all(a is b for a, b in zip(found_opcodes, opcodes, strict=True))
    assert list(found.rejected) == list(expected.rejected)
    for name, errors in expected.rejected.items():
        assert [(type(e), str(e)) for e in found.rejected[name]] == [
            (type(e), str(e)) for e in errors
        ]


@pytest.mark.parametrize("name", ["nvcc_tour", "llvm_window", "triton_style"])
def test_what_is_loaded_equals_what_was_read(name: str) -> None:
    expected = read_ptx((DATA / f"{name}.ptx").read_text(), "t.ptx")
    assert module_cache.load_module("x") is None
    module_cache.store_module("x", expected)
    found = module_cache.load_module("x")
    assert found is not None
    check_equal(found, expected)


def test_a_large_file_is_parsed_once(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_module(large)
    with monkeypatch.context() as patched:
        patched.delattr(ptx_frontend, "parse")
        check_equal(read_module(large), first)
        large.write_text(large.read_text() + " ")
        with pytest.raises(NameError):
            read_module(large)


def test_a_small_file_leaves_nothing(folder: Path) -> None:
    read_module(DATA / "llvm_window.ptx")
    assert not folder.exists()


def test_the_name_depends_on_text_path_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {module_cache.cached_name(text, path) for text in ("a", "b") for path in ("a", "b")}
    assert len(names) == 4
    monkeypatch.setattr(module_cache, "_sources", lambda: b"other")
    assert module_cache.cached_name("a", "a") not in names


@pytest.mark.parametrize("cut", [0, 10, 40, 1000, -1])
def test_damaged_files_are_as_good_as_none(large: Path, folder: Path, cut: int) -> None:
    expected = read_module(large)
    (file,) = folder.glob("*.module")
    file.write_bytes(file.read_bytes()[:cut])
    check_equal(read_module(large), expected)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert module_cache.load_module(file.name) is None
    check_equal(read_module(large), expected)


class Planted:
    """Leaves a file behind when it is decoded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("digest", ["none", "unkeyed", "of another key"])
def test_a_planted_pickle_is_never_decoded(folder: Path, tmp_path: Path, digest: str) -> None:
    """The pickle lies in our own folder: copied there by somebody who does not have the key."""
    write_checked("other", b"")  # makes the key
    harm = pickle.dumps(Planted(tmp_path / "harm"))
    pickle.loads(harm)
    (tmp_path / "harm").unlink()
    another = hmac.new(bytes(32), b"x\0" + harm, hashlib.sha256).digest()
    heads = {"none": b"", "unkeyed": hashlib.sha256(harm).digest(), "of another key": another}
    (folder / "x").write_bytes(heads[digest] + harm)
    (folder / "x").chmod(0o600)
    assert module_cache.load_module("x") is None
    assert not (tmp_path / "harm").exists()


def test_what_is_no_part_of_a_module_is_never_called(tmp_path: Path) -> None:
    """Not even from a file that this user's programs wrote."""
    write_checked("x", pickle.dumps(Planted(tmp_path / "harm")))
    assert module_cache.load_module("x") is None
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("kernelcast.simcore.host.private_folder", "os.system"),
        ("kernelcast.simcore.host.private_folder", "OpenFolder"),
        ("kernelcast.simcore.host.disk_cache", "write_checked"),
        ("numpy", "fromfile"),
        ("builtins", "eval"),
    ],
)
def test_other_names_are_not_found(module: str, name: str) -> None:
    with pytest.raises((pickle.UnpicklingError, AttributeError)):
        module_cache._Unpickler(io.BytesIO()).find_class(module, name)


def test_a_folder_that_cannot_be_written_is_no_error(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "file" / "cache"))
    assert read_module(large).kernels


def test_loading_is_much_less_work_than_reading() -> None:
    """Function calls stand for time, which other processes lengthen."""
    text = (DATA / "nvcc_tour.ptx").read_text()
    module = read_ptx(text, "t.ptx")
    module_cache.store_module("x", module)
    read = calls(lambda: read_ptx(text, "t.ptx"))
    assert calls(lambda: module_cache.load_module("x")) < read / 10


def calls(work: Callable[[], object]) -> int:
    """How many functions are called meanwhile."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(row.callcount for row in profile.getstats())


IR = """define spir_kernel void @k(ptr addrspace(1) %o) {
  store i32 5, ptr addrspace(1) %o
  ret void
}
"""


def bitcode() -> bytes:
    return bytes(llvm.parse_assembly(IR).as_bitcode())


def spirv() -> bytes:
    return (DATA / "spirv_tour_llvm.spv").read_bytes()


@pytest.mark.parametrize("make", [IR.encode, bitcode, spirv], ids=["text", "bitcode", "SPIR-V"])
def test_ir_is_read_once(make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Small modules too, for the process that LLVM runs in takes its time to start."""
    content = make()
    first = read_ir(content, "module")
    assert first.kernels
    with monkeypatch.context() as patched:
        patched.delattr("kernelcast.ptx_frontend.llvm.read_llvm")
        check_equal(read_ir(content, "module"), first)
        with pytest.raises(ImportError, match="read_llvm"):
            read_ir(content, "elsewhere")


def test_the_name_of_ir_depends_on_the_llvm_that_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    here = module_cache.cached_ir_name(b"BC", "a.bc")
    assert here != module_cache.cached_name(b"BC", "a.bc")
    monkeypatch.setattr(module_cache, "version", lambda name: "0.0.1")
    assert module_cache.cached_ir_name(b"BC", "a.bc") != here


def test_what_llvm_refuses_is_not_kept(folder: Path) -> None:
    with pytest.raises(IrSyntaxError):
        read_ir(b"define nonsense", "bad.ll")
    assert not folder.exists()


def test_all_folders_of_the_front_end_decide_on_the_name() -> None:
    files = {str(file.as_posix()) for file in module_cache._source_files()}
    for end in (
        "llvm/lowering/module.py",
        "llvm/builtins/call.py",
        "spirv/module/opcodes.csv",
        "isa/ir/kernel.py",
    ):
        assert any(file.endswith(f"/{end}") for file in files), end
    assert any(file.endswith("simcore/host/ir_process.py") for file in files)
