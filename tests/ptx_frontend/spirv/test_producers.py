"""SPIR-V made here by the compilers that are installed, against the LLVM IR that they were given.

Without clang, or without llvm-spirv of the same version, the tests are skipped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.llvm.builtins.mangling import demangled
from kernelcast.ptx_frontend.spirv import read_spirv
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

SOURCE = Path(__file__).parents[1] / "data" / "spirv_tour.cl"
PRODUCERS = ("translator", "llvm")
UNARY = """acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf
exp exp2 exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi
sqrt tan tanh tanpi tgamma trunc half_cos half_exp half_log half_recip half_sqrt native_cos
native_exp native_log native_recip native_sqrt degrees radians sign normalize fast_normalize"""
BINARY = """atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr
remainder half_divide native_divide native_powr step"""
INTEGER = "add_sat hadd rhadd max min mul_hi sub_sat"
ITEM_CALLS = """get_global_id(1) get_local_id(2) get_group_id(0) get_global_size(0)
get_local_size(1) get_num_groups(2) get_global_offset(0) get_work_dim()"""
_BACK_END = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
module = llvm.parse_bitcode(open(sys.argv[1], "rb").read())
module.triple = "spirv64-unknown-unknown"
machine = llvm.Target.from_triple(module.triple).create_target_machine(opt=0)
module.data_layout = str(machine.target_data)
open(sys.argv[2], "wb").write(machine.emit_object(module))
"""


def _calls(type_: str) -> str:
    lines = [f"v = {name}(v);" for name in UNARY.split()]
    lines += [f"v = {name}(v, w);" for name in BINARY.split()]
    lines += [f"v = {name}(v, w, a[2]);" for name in ("fma", "mad", "mix", "smoothstep")]
    lines += [f"{type_} p; v += fract(v, &p) + modf(w, &p) + sincos(v, &p) + p;"]
    return " ".join(lines)


def _integer_calls(type_: str) -> str:
    lines = [f"v = {name}(v, w);" for name in INTEGER.split()]
    return " ".join([*lines, "v = clamp(v, w, a[2]); v = mad_hi(v, w, v); v = mad_sat(v, w, v);"])


def _functions() -> str:
    kernels = []
    for type_ in ("float", "float4", "int", "uint", "char4", "ulong2"):
        body = _calls(type_) if type_[0] == "f" else _integer_calls(type_)
        kernels.append(
            f"kernel void k_{type_}(global {type_}* a) "
            f"{{ a += 3 * get_group_id(0); {type_} v = a[0], w = a[1]; {body} a[0] = v; }}"
        )
    sums = " + ".join(ITEM_CALLS.split())
    kernels.append(f"kernel void k_places(global size_t* a) {{ a[get_group_id(0)] = {sums}; }}")
    return "\n".join(kernels)


@cache
def _versions() -> int:
    """The newest version of which clang and llvm-spirv are both there, or 0."""
    for version in range(22, 13, -1):
        if shutil.which(f"clang-{version}") and shutil.which(f"llvm-spirv-{version}"):
            return version
    return 0


@pytest.fixture(scope="module", params=PRODUCERS)
def producer(request: pytest.FixtureRequest) -> str:
    if not _versions():
        pytest.skip("clang and llvm-spirv of one version are not installed")
    return str(request.param)


def _compiled(source: str, producer: str, folder: Path) -> tuple[bytes, bytes]:
    """(bitcode, SPIR-V)."""
    version = _versions()
    text, bitcode, made = (folder / name for name in ("k.cl", "k.bc", "k.spv"))
    text.write_text(source)
    command = [f"clang-{version}", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown"]
    command += ["-Xclang", "-finclude-default-header", "-emit-llvm", "-c", "-O2"]
    command += ["-Xclang", "-no-opaque-pointers"] if version == 15 else []
    subprocess.run([*command, str(text), "-o", str(bitcode)], check=True)
    if producer == "translator":
        subprocess.run([f"llvm-spirv-{version}", str(bitcode), "-o", str(made)], check=True)
    else:
        subprocess.run([sys.executable, "-c", _BACK_END, str(bitcode), str(made)], check=True)
    return bitcode.read_bytes(), made.read_bytes()


def _opcodes(module: llvm.ModuleRef) -> dict[str, Counter[str]]:
    """Opcodes by function; casts of a pointer to itself, which types need, are left out."""
    found = {}
    for function in module.functions:
        if not function.is_declaration:
            instructions = [x for block in function.blocks for x in block.instructions]
            kept = [x for x in instructions if not re.search(r"bitcast ptr.* to ptr", str(x))]
            found[function.name] = Counter(x.opcode for x in kept)
    return found


def test_the_tour_comes_back_with_the_same_opcodes(producer: str, tmp_path: Path) -> None:
    """Opcodes are the same; in the other two kernels producers rewrite vectors and addresses."""
    bitcode, made = _compiled(SOURCE.read_text(), producer, tmp_path)
    text = read_spirv(made, "tour.spv")
    module = llvm.parse_assembly(text)
    module.verify()
    before, after = _opcodes(llvm.parse_bitcode(bitcode)), _opcodes(module)
    assert set(before) == set(after)
    for name in ("saxpy", "choose", "structs", "histogram"):
        assert after[name] == before[name], name
    assert set(read_llvm(text.encode(), "tour", is_text=True).kernels) == set(before)


def _symbols(module: llvm.ModuleRef) -> set[str]:
    return {f.name for f in module.functions if f.is_declaration and f.name.startswith("_Z")}


def test_built_in_functions_keep_their_symbols(producer: str, tmp_path: Path) -> None:
    bitcode, made = _compiled(_functions(), producer, tmp_path)
    module = llvm.parse_assembly(read_spirv(made, "functions.spv"))
    module.verify()
    before, after = _symbols(llvm.parse_bitcode(bitcode)), _symbols(module)
    assert len(before) > 2 * len(UNARY.split())
    assert after == before
    names = {found.name for found in map(demangled, after) if found is not None}
    assert names.issuperset(f"{UNARY} {BINARY} {INTEGER}".split())


def test_results_are_those_of_the_bitcode(producer: str, tmp_path: Path) -> None:
    bitcode, made = _compiled(_functions(), producer, tmp_path)
    text = read_spirv(made, "functions.spv").encode()
    expected = read_llvm(bitcode, "functions.bc", is_text=False)
    found = read_llvm(text, "functions.spv", is_text=True)
    for name in expected.kernels:
        buffers = []
        for module in (expected, found):
            values = np.random.default_rng(7).uniform(0.1, 0.9, 64).astype(np.float32)
            execute(module.kernels[name], Launch((2, 1, 1), (1, 1, 1), (values,)))
            buffers.append(values.tobytes())
        assert buffers[0] == buffers[1], name
