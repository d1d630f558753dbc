"""Machine code for AMD's GPUs from LLVM IR: it exists, and its resources are those of profiles."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.ptx_frontend.amdgcn.code_object import bundled, read_code_object
from kernelcast.ptx_frontend.amdgcn.message_pack import unpacked
from kernelcast.simcore.host.amd_code import AMD_ARCHITECTURES
from kernelcast.simcore.profile.profile import Occupancy
from tests.kernelcast.inputs.hip.suite import CASES, Case, loaded

LDS_BYTES = {
    "transpose_tiled": 32 * 33 * 4,
    "multiply": 2 * 16 * 16 * 4,
    "nbody": 128 * 16,
    "bitonic_sort": 1024 * 4,
}
WITH_MATRIX_CORES = ("gfx908", "gfx90a", "gfx942", "gfx950")
KERNEL = "#include <hip/hip_runtime.h>\n__global__ void k(float *x) {{ {} }}"
Write = Callable[[str], LoadedModule]


def symbol_of(case: Case) -> str:
    (found,) = (name for name in loaded(case.file) if case.entry in name)
    return found


def occupancy_on(trace: kc.KernelTrace, device: str) -> Occupancy:
    found = trace.profile(device).occupancy
    assert found is not None
    return found


def code_of(module: LoadedModule) -> GeneratedCode:
    assert isinstance(module.native, GeneratedCode)
    return module.native


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(body: str) -> LoadedModule:
        file = tmp_path / "kernel.hip"
        file.write_text(KERNEL.format(body))
        return kc.load(file)

    return written


@pytest.mark.drawn(8)
@pytest.mark.parametrize("architecture", AMD_ARCHITECTURES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_every_kernel_has_code_whose_metadata_llvm_prints_too(
    case: Case, architecture: str
) -> None:
    code, symbol = code_of(loaded(case.file)), symbol_of(case)
    if case.entry == "matrix_core_product" and architecture not in WITH_MATRIX_CORES:
        with pytest.raises(CompilationError, match=f"for {architecture}: Cannot select: intrinsic"):
            code.code(symbol, architecture)
        return
    found = code.resources(symbol, architecture)
    text = code.code(symbol, architecture).assembly
    for name, value in (
        ("vgpr_count", found.vector_registers),
        ("sgpr_count", found.scalar_registers),
        ("group_segment_fixed_size", found.shared_bytes),
        ("private_segment_fixed_size", found.scratch_bytes),
        ("wavefront_size", found.wavefront),
    ):
        printed = re.search(rf"\.{name}:\s*(\d+)", text)
        assert printed is not None
        assert int(printed[1]) == value
    assert found.wavefront == (32 if architecture.startswith("gfx1") else 64)
    assert LDS_BYTES.get(case.entry, found.shared_bytes) == found.shared_bytes


def test_loads_are_issued_before_the_first_use_as_in_no_source() -> None:
    text = code_of(loaded("arrays")).code("star5_2d", "gfx90a").assembly
    body = text[text.index("star5_2d:") :].partition("s_endpgm")[0]
    loads = [match.start() for match in re.finditer(r"\bglobal_load_dword", body)]
    first_use = body.index("s_waitcnt vmcnt")
    assert len([place for place in loads if place < first_use]) == len(loads) >= 3


def test_profiles_have_the_registers_of_the_code() -> None:
    case = next(case for case in CASES if case.entry == "nbody")
    module = loaded(case.file)
    devices = {"r9-nano": "gfx803", "mi210": "gfx90a", "rx-7900-xtx": "gfx1100"}
    arguments = case.arguments()
    trace = module["nbody"].run(
        grid=case.grid, block=case.block, args=list(arguments.values()), devices=list(devices)
    )
    for name, architecture in devices.items():
        occupancy = occupancy_on(trace, name)
        known = code_of(module).resources("nbody", architecture).vector_registers
        assert (occupancy.registers_per_thread, occupancy.registers_assumed) == (known, False)
    counts = dict(trace.data.resources.compiled_registers)
    assert sorted(counts) == sorted(devices.values())


def test_the_users_count_and_the_order_of_the_source_go_first() -> None:
    case = next(case for case in CASES if case.entry == "vector_add")
    kernel = loaded(case.file)["vector_add"]
    for keywords, assumed in (({"registers": 77}, False), ({"code": "as-written"}, True)):
        trace = kernel.run(
            grid=case.grid,
            block=case.block,
            args=list(case.arguments().values()),
            devices=["mi210"],
            **keywords,
        )
        occupancy = occupancy_on(trace, "mi210")
        assert occupancy.registers_assumed == assumed
        assert occupancy.registers_per_thread == keywords.get("registers", 0) or assumed


def test_what_has_no_code_is_estimated_and_says_why(write: Write) -> None:
    module = write('printf("%f", x[0]);')
    trace = module["k"].run(grid=1, block=1, args=[np.zeros(4, np.float32)], devices=["mi210"])
    profile = trace.profile("mi210")
    assert profile.occupancy is not None
    assert profile.occupancy.registers_assumed
    note = "registers are estimated: .*no code of _Z1kPf for gfx90a: there is no function"
    assert any(re.match(note, line) for line in profile.assumptions)


def test_libraries_have_what_headers_declare(write: Write) -> None:
    module = write(
        "x[0] = sinf(x[1]) + powf(x[2], x[3]) + __expf(x[4]) + erff(x[5]) + atan2f(x[6], x[7])"
        " + (float)exp((double)x[8]) + tanhf(x[9]) + log1pf(x[10]);"
    )
    for architecture in AMD_ARCHITECTURES:
        assert "s_endpgm" in code_of(module).code("_Z1kPf", architecture).assembly


def test_other_architectures_are_refused(write: Write) -> None:
    module = write("x[0] = 1;")
    with pytest.raises(InputError, match=r"no code is generated for 'gfx90b'.*known: gfx803, "):
        code_of(module).code("_Z1kPf", "gfx90b")
    assert code_of(module).registers("_Z1kPf", "8.0") is None


def test_a_bundle_is_read_by_its_targets(write: Write) -> None:
    made = code_of(write("x[0] = 1;")).code("_Z1kPf", "gfx90a").object
    entry = b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    start = 24 + 8 + 24 + len(entry)
    head = struct.pack("<QQQQ", 1, start, len(made), len(entry))
    bundle = b"__CLANG_OFFLOAD_BUNDLE__" + head + entry + made
    assert bundled(bundle) == {"gfx90a": made}


def test_damaged_code_objects_are_refused(write: Write) -> None:
    made = code_of(write("x[0] = 1;")).code("_Z1kPf", "gfx90a").object
    random = np.random.default_rng(3)
    for _ in range(300):
        damaged = bytearray(made[: random.integers(1, len(made) + 1)])
        for place in random.integers(0, len(damaged), 3):
            damaged[place] = random.integers(0, 256)
        try:
            read_code_object(bytes(damaged))
        except InputError:
            continue


def test_message_pack() -> None:
    """Encodings of the specification's table of formats."""
    data = bytes.fromhex("86a16101a16293c0c2c3a163cd1234a164d1ff00a165ca3fc00000a166d903787978")
    found = {"a": 1, "b": [None, False, True], "c": 0x1234, "d": -256, "e": 1.5, "f": "xyx"}
    assert unpacked(data) == found
    with pytest.raises(InputError):
        unpacked(data[:-1])
