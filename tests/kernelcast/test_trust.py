"""What a workload that somebody else names may not do, and what no workload may; docs/trust.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, KernelcastError, WorkloadError
from kernelcast.inputs.compiler_options import CompilerOptions, check_options
from kernelcast.inputs.included_files import check_confined
from kernelcast.inputs.source_file import load_source
from kernelcast.validation.measured import MEASURED, validate_measured

PTX = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret; }
"""
WORKLOAD = """[kernel]
source = "k.ptx"
[launch]
grid = [1]
block = [1]
[[args]]
name = "x"
type = "u32[4]"
init = "zeros"
[[args]]
name = "n"
type = "u32"
value = 7
"""
HARM = "import pathlib\npathlib.Path(__file__).with_name('harm').touch()\ndef f(*a): return 1\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """(old, new, more="") -> a workload file in a folder of its own, with a text replaced."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "k.ptx").write_text(PTX)
    (folder / "harm.py").write_text(HARM)
    (folder / "x.bin").write_bytes(np.arange(4, dtype=np.uint32).tobytes())
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (tmp_path / "secret.ptx").write_text(PTX)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")

    def make(old: str = "", new: str = "", more: str = "") -> Path:
        assert old in WORKLOAD
        file = folder / "w.toml"
        file.write_text(WORKLOAD.replace(old, new, 1) + more if old else WORKLOAD + more)
        return file

    return make


def test_a_foreign_workload_without_code_runs(write: Callable[..., Path]) -> None:
    file = write('init = "zeros"', 'init = { file = "x.bin" }')
    arguments = kc.load_workload(file, kc.Trust.FOREIGN).make_arguments()
    assert np.array_equal(arguments[0], np.arange(4))  # type: ignore[arg-type]
    assert kc.load_workload(file, kc.Trust.FOREIGN).run().data.grid == (1, 1, 1)


PYTHON = 'init = { python = "harm.py:f" }'
MATRIX = "[matrix]\n"
REFUSED = [
    ('init = "zeros"', PYTHON, "", "args[x].init: a foreign workload may not run Python"),
    ('init = "zeros"', 'python = "harm.py:f"', "", "args[x].init: a foreign workload may not"),
    ("", "", '[check]\nreference = "harm.py:f"\n', "check.reference: a foreign workload may not"),
    ("", "", f'{MATRIX}python = "harm.py:f"\n', "matrix.python: a foreign workload may not"),
    ("", "", f'{MATRIX}file = "../a.mtx"\n', "matrix.file: ../a.mtx is outside"),
    ('"k.ptx"', '"../secret.ptx"', "", "kernel.source: ../secret.ptx is outside"),
    ('"k.ptx"', '"/etc/passwd"', "", "kernel.source: /etc/passwd is outside"),
    ('init = "zeros"', 'init = { file = "../secret.bin" }', "", "args[x].init: ../secret.bin is"),
    ('init = "zeros"', 'init = { file = "link.bin" }', "", "args[x].init: link.bin is outside"),
    ('"u32[4]"\ninit = "zeros"', f'"image1d[4]"\n{PYTHON}', "", "args[x].init: a foreign workload"),
    ('"u32[4]"', '"tensor_map f32[4]"\nbox = [4]\npython = "harm.py:f"', "", "args[x]"),
    ('"k.ptx"', '"k.cl"\ninclude = ["../headers"]', "", "kernel.include: ../headers is outside"),
    ('"k.ptx"', '"k.cl"\noptions = ["-fplugin=x.so"]', "", "'-fplugin=x.so' is no option of a for"),
]


@pytest.mark.parametrize(("old", "new", "more", "message"), REFUSED)
def test_foreign_workloads_are_refused_by_key(
    write: Callable[..., Path], old: str, new: str, more: str, message: str
) -> None:
    file = write(old, new, more)
    if "tensor_map" in new:
        file.write_text(file.read_text().replace('\ninit = "zeros"', "", 1))
    with pytest.raises(WorkloadError) as caught:
        kc.load_workload(file, kc.Trust.FOREIGN)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")
    assert "--trust (trust=Trust.OWN) allows it" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (file.parent / "harm").exists()
    kc.load_workload(file)  # the user's own may


def test_an_own_workload_runs_its_python(write: Callable[..., Path]) -> None:
    """The other side of the rule: what is refused above is code indeed."""
    file = write('init = "zeros"', PYTHON)
    with pytest.raises(KernelcastError):  # 1 is no array of four
        kc.load_workload(file).make_arguments()
    assert (file.parent / "harm").exists()


WRITING = [
    *(
        "-o",
        "-oelsewhere",
        "-MD",
        "-MF",
        "-MFdeps",
        "-MMD",
        "-MJ",
        "-save-temps",
        "-save-temps=obj",
    ),
    *("--save-temps", "-ftime-trace", "-ftime-trace=x", "-fsave-optimization-record"),
    *("-foptimization-record-file=x", "--serialize-diagnostics", "-serialize-diagnostics"),
    *("-gsplit-dwarf", "-fcrash-diagnostics-dir=x", "-dependency-file", "-stats-file=x"),
    *("-fmodules-cache-path=x", "-working-directory=x", "--output=x", "-emit-pch"),
    *("--create-pch=x", "--pch", "-pch", "--pch-dir=x", "--time=x", "-time=x", "--optix-ir"),
    *("--fdevice-time-trace=x", "-fdevice-time-trace=x", "-info-output-file=x", "-opt-record-file"),
    *(
        "-Wp,-MD,x",
        "-Wp,-DN=1,-MF,x",
        "-Wl,-o,x",
        "-Wa,-o,x",
        "-Xclang=-MD",
        "-mllvm=-stats-file=x",
    ),
    *("-fprofile-instr-generate=x", "-fprofile-generate", "--write-dependencies"),
]
LOADING = [
    *("-fplugin=x.so", "-fpass-plugin=x.so", "-Xclang", "-load", "-add-plugin", "-mllvm"),
    *("@options", "--config=x", "-B/tmp", "-wrapper", "-include", "-include=/etc/passwd"),
    *("-include/etc/passwd", "-imacros/etc/passwd", "-include-pch", "--include-path=/etc"),
    *("-I/etc", "-I", "-isystem", "-idirafter/etc", "-iquote/etc", "--sysroot=/", "-isysroot/"),
    *(
        "-fmodules",
        "-fmodule-file=x",
        "-fprofile-use=x",
        "-fprofile-sample-use=x",
        "-x",
        "-Wl,-plugin,x",
    ),
    *(
        "-Wp,-include,x",
        "-Wa,x",
        "-specs=x",
        "-fuse-ld=x",
        "-ivfsoverlay",
        "-resource-dir=x",
        "--use-pch=x",
    ),
    *(
        "-v",
        "-E",
        "-S",
        "-emit-llvm",
        "/etc/passwd",
        "k.cl",
        "-",
        "",
        "-Xlinker",
        "-fdebug-prefix-map=a=b",
    ),
    *("-DX=1\n-fplugin=x", "-cl-std=CL2.0 -fplugin=x", "-Wno-all\n", "-ptxas-options=-v", "-dlto"),
]
HARMLESS = [
    *("-DN=4", "-DNAME", "-DX=(a + 1)", "-UN", "-O0", "-O3", "-std=c++17", "--std=c++20"),
    *(
        "-cl-std=CL2.0",
        "-cl-fast-relaxed-math",
        "-cl-ext=+all,-cl_khr_fp64",
        "-Wall",
        "-Wno-unused",
    ),
    *(
        "-w",
        "-g",
        "--use_fast_math",
        "-use_fast_math",
        "--fmad=false",
        "-ftz=true",
        "-fno-fast-math",
    ),
    *("-funroll-loops", "-ffp-contract=off", "--maxrregcount=32", "-arch=compute_80", "-lineinfo"),
]


@pytest.mark.parametrize("option", WRITING)
@pytest.mark.parametrize("confined_to", [None, Path("/")])
def test_no_option_may_write(option: str, confined_to: Path | None) -> None:
    with pytest.raises(InputError, match="writes a file: only what is compiled is taken"):
        check_options(CompilerOptions(options=("-DN=1", option), confined_to=confined_to))


@pytest.mark.parametrize("option", LOADING)
def test_options_of_a_foreign_workload_are_a_short_list(option: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no option of a foreign workload"):
        check_options(CompilerOptions(options=(option,), confined_to=tmp_path))
    check_options(CompilerOptions(options=(option,)))


@pytest.mark.parametrize("option", HARMLESS)
def test_harmless_options_are_anybodys(option: str, tmp_path: Path) -> None:
    check_options(CompilerOptions(options=(option,), confined_to=tmp_path))


def test_folders_of_headers_within_the_own_folder_are_allowed(tmp_path: Path) -> None:
    inner = str(tmp_path / "headers")
    for given in ((f"-I{inner}",), ("-I", inner), ("-I", inner, "-DN=1")):
        check_options(CompilerOptions(options=given, confined_to=tmp_path))
    with pytest.raises(InputError):
        check_options(CompilerOptions(options=("-I", inner, "-load"), confined_to=tmp_path))


@pytest.mark.parametrize("suffix", [".cl", ".cu"])
def test_both_compilers_refuse_what_writes(tmp_path: Path, suffix: str) -> None:
    """Refuses before the compilers are looked for, so that the rule holds without them."""
    source = tmp_path / f"k{suffix}"
    source.write_text("")
    target = tmp_path / "elsewhere"
    with pytest.raises(InputError, match="writes a file"):
        load_source(source, CompilerOptions(options=(f"-o{target}",)))
    source.write_text('#include "../secret.h"\n')
    with pytest.raises(InputError, match="outside of the foreign workload's folder"):
        load_source(source, CompilerOptions(confined_to=tmp_path))
    assert not target.exists()


OUTSIDE = [
    '#include "/etc/passwd"',
    "#include </etc/passwd>",
    '# include "../secret.h"',
    '#import "../secret.h"',
    '#include_next "../secret.h"',
    '#embed "/etc/passwd"',
    '%:include "../secret.h"',
    '??=include "../secret.h"',
    '#/* a\n*/include/* b */"../secret.h"',
    '#inc\\\nlude "../secret.h"',
    '#inc\\ \nlude "../secret.h"',
    '#inc??/\nlude "../secret.h"',
    '#\0include "../secret.h"',
    'char *s = "/*";\n#/**/include "../secret.h"',
    '#include "link.h"',
    '#include "inner.h"',
    "#define F <x>\n#include F",
    '#line 3 "/etc/passwd"\n',
    '# 3 "/etc/passwd"\n',
    "#if __has_include(</etc/passwd>)\n#endif",
    f'#include "../{"x" * 300}"',
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_a_foreign_source_includes_nothing_from_outside(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (tmp_path / "secret.h").write_text("")
    (folder / "link.h").symlink_to(tmp_path / "secret.h")
    (folder / "inner.h").write_text('#include "../secret.h"\n')
    with pytest.raises(InputError, match="--trust"):
        check_confined(folder / "k.cl", text.encode(), (), folder)


def test_a_foreign_source_includes_its_own_headers_and_the_compilers(tmp_path: Path) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "a.h").write_text('#pragma once\n#include "a.h"\n#include <b.h>\n')
    (tmp_path / "headers" / "b.h").write_text("")
    text = b'#include "a.h"\n#include <b.h>\n#include <cuda_fp16.h>\nint included = 3 % 2;\n'
    check_confined(tmp_path / "k.cu", text, (tmp_path / "headers",), tmp_path)


@pytest.mark.parametrize("trust", kc.Trust)
def test_measurements_name_foreign_workloads(
    write: Callable[..., Path], tmp_path: Path, trust: kc.Trust
) -> None:
    """A file of results may have come from anywhere, and so may what it names."""
    record = json.loads((MEASURED / "tesla-k20c-published.json").read_text(encoding="utf-8"))
    record["rows"] = record["rows"][:1]
    size = record["rows"][0]["size"]
    file = write('init = "zeros"', PYTHON, f"[sizes.{size}]\nm = 1\n")
    record["rows"][0]["workload"] = str(file.with_suffix(""))
    results = tmp_path / "results"
    results.mkdir()
    (results / "tesla-k20c-published.json").write_text(json.dumps(record), encoding="utf-8")
    notes = validate_measured(["roofline"], results, trust=trust).notes
    is_refused = any("a foreign workload may not run Python" in note for note in notes)
    assert is_refused is (trust is kc.Trust.FOREIGN)
    assert (file.parent / "harm").exists() is (trust is kc.Trust.OWN)


def test_trust_is_of_measured_only(error: Callable[..., str]) -> None:
    assert "--trust is of measured" in error("validate", "suite", "--trust")


def test_arrays_of_pickled_objects_are_refused(write: Callable[..., Path]) -> None:
    """A row of docs/trust.md: a NumPy file may hold pickles, which nobody decodes."""
    file = write('init = "zeros"', 'init = { file = "x.npy" }')
    np.save(file.parent / "x.npy", np.array([{}, {}, {}, {}], object), allow_pickle=True)
    with pytest.raises(WorkloadError, match="not a NumPy file"):
        kc.load_workload(file).make_arguments()
