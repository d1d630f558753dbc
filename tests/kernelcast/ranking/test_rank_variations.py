"""The texts of `--vary`: shapes and foldings."""

from __future__ import annotations

from itertools import product

import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ranking.variations import (
    Configuration,
    ShapeLimits,
    configurations,
    folding_label,
    read_folding,
    read_foldings,
    read_shapes,
    split_variations,
)

CUBE = ShapeLimits((640, 512, 512))
PLANE = ShapeLimits((640, 512, 1))


def test_powers_of_two_with_a_product_are_those_of_the_paper() -> None:
    # Ernst et al. 2022, eq 6: X, Y of 1 to 1024, Z of 1 to 64, all powers of two
    sides = [1 << power for power in range(11)]
    for threads, count in ((1024, 56), (512, 49)):
        expected = {
            (x, y, z) for x, y, z in product(sides, sides, sides[:7]) if x * y * z == threads
        }
        assert len(expected) == count
        found = read_shapes(f"product={threads}", CUBE)
        assert set(found) == expected
        assert len(found) == len(expected)


def test_powers_are_all_shapes_of_one_warp_to_the_most_threads() -> None:
    found = read_shapes("powers", ShapeLimits((64, 64, 64), warp_width=64, most_threads=256))
    assert {x * y * z for x, y, z in found} == {64, 128, 256}
    assert set(found) == {s for n in (64, 128, 256) for s in read_shapes(f"product={n}", CUBE)}


def test_all_are_whole_warps_by_exhaustion() -> None:
    limits = ShapeLimits((9, 9, 9), most_threads=128)
    expected = {
        (x, y, z)
        for x, y, z in product(range(1, 129), range(1, 129), range(1, 65))
        if x * y * z <= 128 and x * y * z % 32 == 0
    }
    assert set(read_shapes("all", limits)) == expected


@pytest.mark.parametrize("text", ["powers", "all", "product=256"])
def test_an_axis_of_one_cell_takes_one_thread(text: str) -> None:
    assert {z for _, _, z in read_shapes(text, PLANE)} == {1}


def test_lists_keep_their_order_and_are_without_repeats() -> None:
    found = read_shapes("16x2x32, 256,8x4 ,16x2x32", CUBE)
    assert found == ((16, 2, 32), (256, 1, 1), (8, 4, 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("16x2x", "16x2x32, product"),
        ("0x2", "at least 1"),
        ("product=48", "power of two"),
        ("product=2048", "at most 1024"),
        ("", "empty value"),
        ("8x8,,4x4", "empty value"),
        ("cubes", "'cubes'"),
    ],
)
def test_bad_shapes(text: str, said: str) -> None:
    with pytest.raises(KernelcastError, match=said) as error:
        read_shapes(text, CUBE)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "folding"),
    [("none", (1, 1, 1)), ("2y", (1, 2, 1)), ("4z", (1, 1, 4)), ("2y2z", (1, 2, 2))],
)
def test_foldings(text: str, folding: tuple[int, int, int]) -> None:
    assert read_folding(text) == folding
    assert folding_label(folding) == text


@pytest.mark.parametrize("text", ["y", "2y2y", "0z", "2w", "2 y", "y2"])
def test_bad_foldings(text: str) -> None:
    with pytest.raises(KernelcastError, match="folding"):
        read_folding(text)


def test_every_shape_with_every_folding() -> None:
    shapes = read_shapes("32x4,64x2", CUBE)
    found = configurations(shapes, read_foldings("none,2y"))
    assert found == (
        Configuration((32, 4, 1)),
        Configuration((64, 2, 1)),
        Configuration((32, 4, 1), (1, 2, 1)),
        Configuration((64, 2, 1), (1, 2, 1)),
    )
    assert [item.label for item in found][2:] == ["32x4x1 2y", "64x2x1 2y"]


def test_variations_by_name() -> None:
    found = split_variations(["block=8x8", "folding=none", "block = 4x4"])
    assert found == {"block": "8x8,4x4", "folding": "none"}
    assert split_variations(["block=product=64"]) == {"block": "product=64"}
    for text in ("block", "block=", "grid=4", "=3"):
        with pytest.raises(KernelcastError, match="--vary"):
            split_variations([text])
