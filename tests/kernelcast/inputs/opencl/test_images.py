"""Kernels with images against Oclgrind, counts and results, and against PoCL."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.instruction_mix import instruction_mix

Array = npt.NDArray[Any]
SOURCE = Path(__file__).with_name("test_images.cl")
HOST = Path(__file__).with_name("image_host.py")
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PYOPENCL_NO_CACHE": "1"}
VENDORS = "/etc/OpenCL/vendors"
KERNELS = ("blur", "volume", "transposed", "sobel")
SIZES = {8: ("reference", ".bc"), 16: ("jit", ".ll")}
ONE_TENTH_OF_A_GREY = 26
"""A grey value of 256 rounds one way or the other: one in ten may."""
UNSUPPORTED = 3

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyopencl") is None, reason="pyopencl is not installed"
)


def hosted(
    folder: Path, size: int, *before: str, vendors: str | None = None
) -> tuple[str, Mapping[str, Array]]:
    """What the host program prints and the kernels leave."""
    source, results = folder / "program.cl", folder / "results.npz"
    if not source.exists():
        source.write_text(f"{SOURCE.read_text()}\n// {uuid.uuid4().hex}\n")
    command = [*before, sys.executable, str(HOST), str(source), str(results), str(size)]
    environment = ENVIRONMENT | ({} if vendors is None else {"OCL_ICD_VENDORS": vendors})
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode == UNSUPPORTED:
        pytest.skip("the device has no such images")
    assert not done.returncode, done.stderr.decode()
    with np.load(results) as found:
        return done.stdout.decode("latin-1"), dict(found)


@pytest.fixture(scope="module")
def witnessed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Any]]:
    """Oclgrind's modules in a folder, and by size what it printed and computed."""
    if shutil.which("oclgrind") is None:
        pytest.skip("Oclgrind is not installed")
    folder = tmp_path_factory.mktemp("images")
    found: dict[int, Any] = {8: hosted(folder, 8, "oclgrind", "--inst-counts", "--dump-spir")}
    mark = (folder / "program.cl").read_text().splitlines()[-1]
    for source in Path("/tmp").glob("oclgrind_*.cl"):
        if mark in source.read_text("latin-1"):
            for suffix in (".ll", ".bc"):
                shutil.move(source.with_suffix(suffix), folder / f"program{suffix}")
            source.unlink()
    found[16] = hosted(folder, 16, "oclgrind", "--inst-counts")
    return folder, found


def counted(text: str, kernel: str) -> dict[str, int]:
    """Oclgrind's histogram of a kernel."""
    section = text.split(f"kernel '{kernel}':")[1].split("Instructions executed")[0]
    lines = re.findall(r"^\s+(\d+) - (.*)$", section, re.MULTILINE)
    return {re.sub(r"\.p(\d)i8", r".p\1", name): int(count) for count, name in lines}


def histogram(trace: kc.KernelTrace) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in instruction_mix(trace.data).rows:
        access = re.fullmatch(r"((?:load|store) \w+) \((\d+) bytes\)", row.opcode)
        name, count = row.opcode, row.thread
        if access:
            name = f"{access[1]} ({count * int(access[2])} bytes)"
        counts[name] = counts.get(name, 0) + count
    return counts


def picture(array: Array, channels: kc.ChannelOrder, type_: kc.ChannelType) -> kc.Image:
    return kc.Image(array, channels, type_)


def launch(kernel: str, size: int) -> tuple[list[Any], Array]:
    """The arguments that the host program makes, and which array the kernel leaves results in."""
    order, kind = kc.ChannelOrder, kc.ChannelType
    random = np.random.default_rng(size)
    colours = random.random((size, size, 4), np.float32)
    grey = random.integers(0, 256, (size, size), np.uint8)
    whole = random.integers(0, 1000, (size, size, 4), np.uint16)
    cloud = random.random((3, 4, 5, 4), np.float32)
    if kernel == "blur":
        out: Array = np.zeros_like(colours)
        sampler = kc.Sampler(kc.Addressing.CLAMP_TO_EDGE, kc.Filter.LINEAR, True)
        return [picture(colours, order.RGBA, kind.FLOAT), out, sampler], out
    if kernel == "volume":
        out = np.zeros((size, size), np.float32)
        return [kc.Image(cloud, order.RGBA, kind.FLOAT, kc.ImageKind.IMAGE_3D), out], out
    pair = (whole, order.RGBA, kind.UNSIGNED_INT16)
    if kernel == "sobel":
        pair = (grey, order.R, kind.UNORM_INT8)
    out = np.zeros_like(pair[0])
    return [picture(*pair), picture(out, *pair[1:])], out


def run(file: Path, kernel: str, size: int, engine: str) -> tuple[kc.KernelTrace, Array]:
    arguments, out = launch(kernel, size)
    trace = kc.load(file)[kernel].run(
        grid=(size // 4, size // 4), block=(4, 4), args=arguments, engine=engine
    )
    return trace, out


def check(kernel: str, found: Array, expected: Array) -> None:
    if kernel == "sobel":
        differences = np.abs(found.astype(int) - expected.astype(int))
        assert differences.max() <= 1
        assert differences.sum() * 256 <= ONE_TENTH_OF_A_GREY * differences.size
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.drawn(4)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_counts_and_results_are_those_of_oclgrind(
    witnessed: tuple[Path, dict[int, Any]], kernel: str, size: int
) -> None:
    folder, found = witnessed
    printed, results = found[size]
    engine, suffix = SIZES[size]
    trace, out = run(folder / f"program{suffix}", kernel, size, engine)
    check(kernel, out, results[kernel])
    assert histogram(trace) == counted(printed, kernel)


def clang() -> str:
    for name in ("clang-15", "clang-14", "clang"):
        if shutil.which(name):
            return name
    pytest.skip("clang is not installed")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels as bitcode of an installed clang."""
    return bitcode(SOURCE, tmp_path_factory.mktemp("compiled") / "program.bc")


def bitcode(source: Path, target: Path) -> Path:
    options = ["-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-O1", "-emit-llvm", "-c"]
    options += ["-Xclang", "-finclude-default-header"]
    subprocess.run([clang(), *options, str(source), "-o", str(target)], check=True)
    return target


def test_results_are_those_of_pocl(tmp_path: Path, compiled: Path) -> None:
    if not Path(VENDORS, "pocl.icd").exists():
        pytest.skip("PoCL is not installed")
    _, results = hosted(tmp_path, 8, vendors=VENDORS)
    for kernel in KERNELS:
        _, out = run(compiled, kernel, 8, "reference")
        check(kernel, out, results[kernel])


def test_spirv_gives_the_same(tmp_path: Path, compiled: Path) -> None:
    if shutil.which("llvm-spirv-15") is None or clang() != "clang-15":
        pytest.skip("clang and llvm-spirv of version 15 are not installed")
    module = tmp_path / "program.spv"
    subprocess.run(["llvm-spirv-15", str(compiled), "-o", str(module)], check=True)
    for kernel in KERNELS:
        trace, out = run(compiled, kernel, 8, "reference")
        again, other = run(module, kernel, 8, "reference")
        assert np.array_equal(out, other)
        reads = [
            {x: n for x, n in histogram(t).items() if re.search("(read|write)_image|sampler", x)}
            for t in (trace, again)
        ]
        assert reads[0] == reads[1]
