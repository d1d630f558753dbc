"""Textures and surfaces in workload files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import WorkloadError
from kernelcast.workload.image_arguments import AnyArgumentSpec, read_any_argument
from kernelcast.workload.toml_table import TomlTable

KERNEL = """.version 8.5
.target sm_80
.address_size 64
.visible .entry shrink(.param .u64 from, .param .u64 to) {
.reg .b64 %t, %s;
.reg .b32 %x, %y, %r<4>;
.reg .f32 %u, %v, %f<4>;
ld.param.u64 %t, [from];
ld.param.u64 %s, [to];
mov.u32 %x, %tid.x;
mov.u32 %y, %ctaid.x;
cvt.rn.f32.u32 %u, %x;
cvt.rn.f32.u32 %v, %y;
fma.rn.f32 %u, %u, 2.0, 1.0;
fma.rn.f32 %v, %v, 2.0, 1.0;
tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%u, %v}];
shl.b32 %x, %x, 2;
sust.b.2d.b32.trap [%s, {%x, %y}], {%f0};
ret;
}
"""
WORKLOAD = """
[kernel]
source = "shrink.ptx"
[sizes.small]
n = 32
[launch]
grid = ["n / 2"]
block = ["n / 2"]
[[args]]
name = "from"
type = "texture2d[n, n]"
filter = "linear"
init = "uniform"
[[args]]
name = "to"
type = "surface2d[n / 2, n / 2]"
[check]
reference = "reference.py:shrunk"
rtol = 1e-5
"""
REFERENCE = """
def shrunk(arguments, sizes):
    image = arguments["from"]
    pairs = image.reshape(len(image) // 2, 2, -1, 2)
    return {"to": pairs.mean(axis=(1, 3))}
"""


def spec(**entries: Any) -> AnyArgumentSpec:
    return read_any_argument(TomlTable("w.toml", "args[t]", {"name": "t", **entries}), Path("."))


def test_a_workload_with_a_texture_and_a_surface(tmp_path: Path) -> None:
    (tmp_path / "shrink.ptx").write_text(KERNEL)
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "shrink.toml").write_text(WORKLOAD)
    workload = kc.load_workload(tmp_path / "shrink.toml")
    for engine in ("jit", "reference"):
        result = workload.run_check(engine=engine)
        assert result.passed
        assert [item.name for item in result.comparisons] == ["to"]


def test_textures_themselves_are_compared_with_the_reference(tmp_path: Path) -> None:
    (tmp_path / "shrink.ptx").write_text(KERNEL)
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "shrink.toml").write_text(WORKLOAD)
    workload = kc.load_workload(tmp_path / "shrink.toml")
    launch = workload.make_launch()
    arguments = dict(zip(launch.argument_names, launch.arguments, strict=True))
    (item,) = workload.compare(arguments, arguments)  # nothing has run
    assert item.name == "to"
    assert item.mismatches == item.elements


def test_the_keys_of_a_texture() -> None:
    made = spec(
        type="texture3d[4, n, 8]",
        order="rg",
        channel_type="unsigned_int8",
        read_mode="normalized_float",
        addressing=["wrap", "border", "mirror"],
        filter="linear",
        coordinates="normalized",
        border=[1, 0.5, 0, 0],
        init="uniform",
    ).make({"n": 6})
    assert isinstance(made, kc.Texture)
    (image,) = made.levels
    assert image.texels.shape == (4, 6, 8, 2)
    assert image.texels.dtype == np.uint8
    assert (image.kind, image.channel_type) == (
        kc.ImageKind.IMAGE_3D,
        kc.ChannelType.UNORM_INT8,
    )
    assert made.addressing == (
        kc.Addressing.WRAP,
        kc.Addressing.BORDER,
        kc.Addressing.MIRROR,
    )
    assert (made.filter, made.normalized_coordinates) == (kc.Filter.LINEAR, True)
    assert made.border == (1.0, 0.5, 0.0, 0.0)


def test_what_is_usual_is_not_written() -> None:
    made = spec(type="texture2d_array[2, 3, 4]").make({})
    assert isinstance(made, kc.Texture)
    expected = kc.Texture(np.zeros((2, 3, 4), np.float32), kc.ImageKind.IMAGE_2D_ARRAY)
    assert made.sampler_word == expected.sampler_word
    assert made.levels[0].format == expected.levels[0].format
    surface = spec(type="surface1d[8]", channel_type="signed_int16", order="rgba").make({})
    assert isinstance(surface, kc.Surface)
    assert surface.image.texels.shape == (8, 4)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"type": "texture4d[2, 2]"}, "args.t..type: 'texture4d' is none of texture1d"),
        ({"type": "surface2d[2, 2]", "filter": "linear"}, "args.t..filter is not a known key"),
        ({"type": "texture2d[2, 2]", "addressing": "roll"}, "args.t..addressing: 'roll' is none"),
        ({"type": "texture2d[2, 2]", "addressing": ["wrap", "roll"]}, "'roll' is none of none"),
        ({"type": "texture2d[2, 2]", "border": [1, 2]}, "args.t..border must be a list of 4"),
        ({"type": "texture2d[2, 2]", "srgb": "maybe"}, "'maybe' is neither yes nor no"),
        ({"type": "texture2d[2, 2]", "srgb": "yes"}, "sRGB needs texels of UNORM_INT8"),
    ],
)
def test_what_is_wrong_names_its_key(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        spec(**entries).make({})
