"""Code out of fat binaries: containers made here, and what nvcc makes."""

from __future__ import annotations

import importlib.util
import io
import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelcast as kc
from kernelcast.errors import InputError, KernelcastError
from kernelcast.inputs.decompression import decompress_lz4_block, decompress_zstd_frame
from kernelcast.inputs.fat_binary import CodeKind, code_entries, payload


def find_nvcc() -> str | None:
    """The one of the Python environment, else the machine's."""
    packages = importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations if packages else None
    found = [file for folder in folders or () for file in Path(folder).glob("cu*/bin/nvcc")]
    return str(found[0]) if found else shutil.which("nvcc")


NVCC = find_nvcc()
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc")

_PTX, _MACHINE_CODE = 1, 2
_X86_64 = 62
_LZ4, _ZSTD = 1 << 13, 1 << 15
_CODEC = {_LZ4: "lz4_raw", _ZSTD: "zstd"}
_SOURCE = """
template <typename T> __global__ void scale(T *x, T a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
template __global__ void scale<float>(float *, float, int);
"""


def ptx(name: str, architecture: int = 75) -> str:
    return (
        f".version 8.0\n.target sm_{architecture}\n.address_size 64\n"
        f".visible .entry {name}(.param .u64 p) {{ ret; }}\n"
    )


def entry(payload: bytes, architecture: int, kind: int = _PTX, compression: int = 0) -> bytes:
    size = len(payload)
    if compression:
        payload = pa.Codec(_CODEC[compression]).compress(payload, asbytes=True)
    padded = payload + bytes(-len(payload) % 8)
    head = struct.pack("<HHIQ", kind, 0x101, 64, len(padded))
    head += struct.pack("<IIHHI", len(payload) if compression else 0, 0, 0, 8, architecture)
    flags = struct.pack("<IIQ8xQ", 0, 0, 0x11 | compression, size if compression else 0)
    return head + flags + padded


def container(entries: Sequence[bytes]) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@pytest.mark.parametrize("compression", [0, _LZ4, _ZSTD])
def test_every_compression_gives_the_text_back(compression: int) -> None:
    text = ptx("k") + "// a long comment that repeats\n" * 50
    content = container(
        [entry(b"\x7fELF", 75, _MACHINE_CODE), entry(text.encode(), 75, 1, compression)]
    )
    stream = io.BytesIO(content)
    code, found = code_entries(stream, "k.fatbin")
    assert (code.kind, found.kind) == (CodeKind.CUBIN, CodeKind.PTX)
    assert (found.architecture, found.container) == ("sm_75", 0)
    assert payload(stream, found, "k.fatbin").rstrip(b"\0").decode() == text


def test_the_newest_architecture_is_taken_unless_another_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "k.fatbin"
    texts = [(ptx("old", 75), 75), (ptx("new", 90), 90), (ptx("middle", 80), 80)]
    file.write_bytes(container([entry(text.encode(), number) for text, number in texts]))
    assert list(kc.load(file)) == ["new"]
    assert list(kc.load(file, arch="sm_80")) == ["middle"]
    with pytest.raises(InputError, match=r"no code for sm_70 in it, but for sm_75, sm_80, sm_90$"):
        kc.load(file, arch="sm_70")


def test_kernels_of_all_containers_are_loaded(tmp_path: Path) -> None:
    file = tmp_path / "k.fatbin"
    parts = [container([entry(ptx(name).encode(), 75)]) for name in ("a", "b")]
    file.write_bytes(bytes(8).join(parts))
    assert list(kc.load(file)) == ["a", "b"]


def test_a_file_without_code_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "k.fatbin"
    file.write_bytes(container([]))
    with pytest.raises(InputError, match="no PTX and no machine code in it"):
        kc.load(file)


def in_elf(section: bytes) -> bytes:
    """An object with a table of names and one section of fat binaries."""
    names = b"\0.names\0.nv_fatbin\0"
    body = names + bytes(-len(names) % 8) + section
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack(
        "<HHIQQQIHHHHHH", 1, _X86_64, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 3, 1
    )
    sections = (
        (0, 0, 0, 0),
        (1, 3, 64, len(names)),
        (8, 1, 64 + len(body) - len(section), len(section)),
    )
    table = [
        struct.pack("<IIQQQQ24x", name, kind, 0, 0, at, size) for name, kind, at, size in sections
    ]
    return head + body + b"".join(table)


def test_an_elf_file_made_here(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(in_elf(container([entry(ptx("k").encode(), 75, _PTX, _LZ4)])))
    assert list(kc.load(file)) == ["k"]


@pytest.mark.parametrize("holder", [bytes, in_elf])
@pytest.mark.parametrize("compression", [_LZ4, _ZSTD])
def test_whatever_is_damaged_is_an_input_error(
    tmp_path: Path, holder: Callable[[bytes], bytes], compression: int
) -> None:
    content = holder(
        container(
            [entry(ptx("k").encode() * 9, 75, _PTX, compression), entry(ptx("k").encode(), 80)]
        )
    )
    file, generator = tmp_path / "k.fatbin", random.Random(1)
    for trial in range(600):
        damaged = bytearray(
            content[: generator.randrange(5, len(content))] if trial % 2 else content
        )
        for _ in range(3):
            damaged[generator.randrange(4, len(damaged))] = generator.randrange(256)
        file.write_bytes(damaged)
        try:
            kc.load(file)
        except KernelcastError:
            continue


def test_a_container_that_is_cut_short_says_so(tmp_path: Path) -> None:
    file = tmp_path / "k.fatbin"
    file.write_bytes(container([entry(ptx("k").encode(), 75)])[:-8])
    with pytest.raises(InputError, match="the fat binary at byte 0 is cut short"):
        kc.load(file)


@given(st.binary(max_size=2000), st.integers(1, 40))
def test_lz4_blocks_of_another_encoder(data: bytes, repeats: int) -> None:
    whole = data * repeats
    block = pa.Codec("lz4_raw").compress(whole, asbytes=True)
    assert decompress_lz4_block(block, len(whole)) == whole


@given(st.binary(max_size=60), st.integers(0, 300))
def test_damaged_lz4_blocks_are_value_errors(block: bytes, size: int) -> None:
    try:
        assert len(decompress_lz4_block(block, size)) == size
    except ValueError:
        return


def test_damaged_zstd_frames_are_value_errors() -> None:
    frame = pa.Codec("zstd").compress(b"abc" * 100, asbytes=True)
    assert decompress_zstd_frame(frame, 300) == b"abc" * 100
    with pytest.raises(ValueError, match=r"bytes instead of|size"):
        decompress_zstd_frame(frame, 301)
    with pytest.raises(ValueError, match=r"."):
        decompress_zstd_frame(b"abc", 300)


def run_nvcc(folder: Path, *arguments: str) -> None:
    assert NVCC is not None
    subprocess.run([NVCC, *arguments], cwd=folder, check=True, capture_output=True)


def check_scale(file: Path) -> None:
    x = np.arange(100, dtype=np.float32)
    kc.load(file)["scale"].run(grid=4, block=32, args=[x, 3.0, 100])
    np.testing.assert_array_equal(x, 3.0 * np.arange(100, dtype=np.float32))


@needs_nvcc
@pytest.mark.parametrize("mode", ["none", "speed", "size"])
def test_fat_binaries_of_nvcc(tmp_path: Path, mode: str) -> None:
    (tmp_path / "k.cu").write_text(_SOURCE)
    run_nvcc(tmp_path, "-fatbin", "-arch=compute_75", f"-compress-mode={mode}", "k.cu")
    check_scale(tmp_path / "k.fatbin")


@needs_nvcc
def test_an_executable_of_nvcc(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(_SOURCE)
    (tmp_path / "main.cu").write_text("__global__ void other() {} int main() { return 0; }")
    run_nvcc(tmp_path, "-arch=compute_75", "k.cu", "main.cu", "-o", "program")
    check_scale(tmp_path / "program")
    assert {"_Z5otherv", "_Z5scaleIfEvPT_S0_i"} == set(kc.load(tmp_path / "program"))


@needs_nvcc
def test_a_relocatable_object_of_nvcc(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(_SOURCE)
    run_nvcc(tmp_path, "-c", "-rdc=true", "-arch=compute_75", "k.cu", "-o", "k.o")
    check_scale(tmp_path / "k.o")


def test_a_damaged_elf_file(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 90)
    with pytest.raises(InputError, match="damaged ELF file"):
        kc.load(file)
    file.write_bytes(b"\x7fELF\x01\x01" + bytes(90))
    with pytest.raises(InputError, match="only 64-bit little-endian"):
        kc.load(file)
