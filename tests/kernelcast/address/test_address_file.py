"""Kernels typed as addresses: files and lines."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from kernelcast.address.file import is_address_file, is_address_line, load_address_kernel
from kernelcast.errors import WorkloadError
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access, AddressKernel

STAR = (
    "dst[z, y, x] = src[z, y, x - 4..4] + src[z, y - 4..4, x] + src[z - 4..4, y, x]; "
    "domain = 640x512x512; block = 16x2x32; folding = 2z; flops = 25; registers = 32"
)
FILE = """
[address_kernel]
domain = ["nx", "ny", "nz"]
block = [32, 4, 4]
folding = "2y"
flops = 25
registers = 40
[sizes.full]
nx = 640
ny = 512
nz = 512
[sizes.small]
nx = 64
ny = 32
nz = 16
[[fields]]
name = "src"
type = "f64[nz + 8, ny + 8, nx + 8]"
loads = ["z + 4, y + 4, x + 0..8", "z + 4, y + 0..8, x + 4", "z + 0..8, y + 4, x + 4"]
[[fields]]
name = "dst"
type = "f64[nz, ny, nx]"
alignment = 256
stores = ["z, y, x"]
"""


def addresses(accesses: tuple[Access, ...]) -> set[tuple[str, int, int, int, int]]:
    """(field, constant, coefficients of x, y, z) in bytes."""
    found = set()
    for access in accesses:
        terms = dict(access.offset.terms)
        x, y, z = (terms.get((axis,), 0) for axis in "xyz")
        found.add((access.field, terms.get((), 0), x, y, z))
    return found


def star_offsets() -> set[tuple[int, int, int]]:
    """Offsets of the range-4 star, in cells (x, y, z)."""
    steps = range(-4, 5)
    return {(s, 0, 0) for s in steps} | {(0, s, 0) for s in steps} | {(0, 0, s) for s in steps}


def star_loads(width: int, height: int) -> set[tuple[str, int, int, int, int]]:
    row, plane = 8 * (width + 8), 8 * (width + 8) * (height + 8)
    return {
        ("src", 8 * (x + 4) + row * (y + 4) + plane * (z + 4), 8, row, plane)
        for x, y, z in star_offsets()
    }


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "star.toml"
    path.write_text(text)
    return path


def test_a_line_is_the_stencil_with_its_halo() -> None:
    kernel = load_address_kernel(STAR)
    assert addresses(kernel.loads) == star_loads(640, 512)
    assert len(kernel.loads) == 25
    assert addresses(kernel.stores) == {("dst", 0, 8, 8 * 640, 8 * 640 * 512)}
    assert [field.shape for field in kernel.fields] == [(648, 520, 520), (640, 512, 512)]
    assert kernel.domain == (640, 512, 512)
    assert kernel.block == (16, 2, 32)
    assert kernel.folding == (1, 1, 2)
    assert (kernel.flops, kernel.registers, kernel.name) == (25, 32, "dst")


def test_a_file_is_the_same_stencil(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    kernel = load_address_kernel(path)
    assert kernel.name == "star"
    assert is_address_file(path)
    loads = {_bound(access, kernel) for access in kernel.loads}
    assert loads == star_loads(640, 512)
    assert kernel.field("dst").base_alignment_bytes == 256
    assert kernel.folding == (1, 2, 1)
    small = load_address_kernel(path, "small")
    assert {_bound(access, small) for access in small.loads} == star_loads(64, 32)
    assert small.domain == (64, 32, 16)


def _bound(access: Access, kernel: AddressKernel) -> tuple[str, int, int, int, int]:
    (found,) = addresses((
        Access(access.field, access.offset.substitute(dict(kernel.parameters)), 8),
    ))  # fmt: skip
    return found


def test_components_loops_and_single_precision(tmp_path: Path) -> None:
    text = """
[address_kernel]
domain = ["n", "n"]
[sizes.only]
n = 48
[loops]
k = "n"
[[fields]]
name = "a"
type = "f32[n, n]"
loads = ["y, k"]
[[fields]]
name = "b"
type = "f32[3, n, n]"
loads = ["1..2, k, x"]
[[fields]]
name = "c"
type = "f32[n, n]"
loads = ["y, x"]
stores = ["y, x"]
"""
    kernel = load_address_kernel(write(tmp_path, text))
    index = {str(access.offset): access for access in kernel.loads}
    assert {(item.name, item.trips) for item in kernel.loops} == {("k", 48)}
    for source, loops in (
        ("48*y + k", ("k",)),
        ("48*48 + 48*k + x", ("k",)),
        ("2*48*48 + 48*k + x", ("k",)),
        ("48*y + x", ()),
    ):
        access = index[str(address_expression(source) * 4)]
        assert access.loops == loops
        assert access.access_bytes == 4
    assert not kernel.is_double


def test_a_line_with_sizes_of_its_own_and_several_statements() -> None:
    kernel = load_address_kernel(
        "u[y, x] = p[2, y, x + 1]; v[y, x] = u[y, x]; p: f32[3, 16, 64]; domain = 32x16; type = f32"
    )
    assert addresses(kernel.loads) == {
        ("p", 4 * (2 * 16 * 64 + 1), 4, 4 * 64, 0),
        ("u", 0, 4, 4 * 32, 0),
    }
    assert addresses(kernel.stores) == {(name, 0, 4, 4 * 32, 0) for name in "uv"}
    assert kernel.domain == (32, 16, 1)


def test_strides_and_transposition() -> None:
    kernel = load_address_kernel("b[x, y] = a[y, 2*x + 1]; domain = 8x4")
    assert addresses(kernel.loads) == {("a", 0, 16, 8 * 15, 0)}
    assert addresses(kernel.stores) == {("b", 0, 8 * 4, 8, 0)}
    # the reach of the indices, counted
    assert kernel.field("a").shape == (len(range(1, 2 * 7 + 1 + 1)), 4)
    touched = {x * 4 + y for x, y in product(range(8), range(4))}
    assert max(touched) + 1 == 4 * 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("b[x] = a[x]", "domain"),
        ("b[x] = a[x]; domain = 8x", "whole number"),
        ("b[x] = a[i]; domain = 8", "'i'"),
        ("b[x] = a[x*x]; domain = 8", "not affine"),
        ("b[x] = a[x/2]; domain = 8", r"only|more than"),
        ("b[x] = a[x + 3..1]; domain = 8", "empty"),
        ("b[x] = a[x] + a[y, x]; domain = 8x8", "different numbers"),
        ("b[x] = a[x,]; domain = 8", "missing"),
        ("b[x] = a[x]; domain = 8; colour = red", "neither"),
        ("b[x] = a[x]; domain = 8; type = f99", "f99"),
        ("b[x] = a[x]; domain = 8; folding = 2w", "folding"),
        ("b[x] = a[0..9999]; domain = 8", "9999|10000"),
        ("a[x]; domain = 8; c = 3", "neither"),
    ],
)
def test_bad_lines(text: str, said: str) -> None:
    with pytest.raises(Exception, match=said) as error:
        load_address_kernel(text)
    assert type(error.value).__module__ == "kernelcast.errors"
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("flops", "flop", "flop is not a known key"),
        ('"nx", "ny"', '"mx", "ny"', "mx"),
        ("f64[nz, ny, nx]", "f64[nz, ny]", "3 indices, dst has 2"),
        ("f64[nz, ny, nx]", "double", "not a type"),
        ("f64[nz, ny, nx]", "f64[nz, ny, 0]", "no elements"),
        ('"z, y, x"', '"z, y, w"', "'w'"),
        ('"2y"', '"y"', "folding"),
        ("[32, 4, 4]", "[32, 4, 0]", "at least 1"),
        ('stores = ["z, y, x"]', 'stores = "z, y, x"', "list of texts"),
    ],
)
def test_bad_files(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FILE
    with pytest.raises(Exception, match=said) as error:
        load_address_kernel(write(tmp_path, FILE.replace(old, new)))
    assert type(error.value).__module__ == "kernelcast.errors"
    assert "\n" not in str(error.value)


def test_unknown_sizes(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"'smal'.*small"):
        load_address_kernel(write(tmp_path, FILE), "smal")
    with pytest.raises(WorkloadError, match="no sizes"):
        load_address_kernel(STAR, "small")


def test_what_is_a_line() -> None:
    assert is_address_line(STAR)
    assert not is_address_line("kernels/star.toml")
    assert not is_address_line(Path("a[x]=b[x]"))
