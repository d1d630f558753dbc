"""Images and samplers in workload files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import WorkloadError
from kernelcast.workload.image_arguments import AnyArgumentSpec, read_any_argument
from kernelcast.workload.toml_table import TomlTable

KERNEL = """target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func <4 x float> @_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i(
  ptr addrspace(1), ptr addrspace(2), <2 x i32>)
declare spir_func void @_Z12write_imagef14ocl_image2d_woDv2_iDv4_f(
  ptr addrspace(1), <2 x i32>, <4 x float>)
define spir_kernel void @copy(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(2) %s) {
  %x = call spir_func i64 @_Z13get_global_idj(i32 0)
  %y = call spir_func i64 @_Z13get_global_idj(i32 1)
  %a = trunc i64 %x to i32
  %b = trunc i64 %y to i32
  %v = insertelement <2 x i32> undef, i32 %a, i32 0
  %w = insertelement <2 x i32> %v, i32 %b, i32 1
  %t = call spir_func <4 x float> @_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i(
    ptr addrspace(1) %in, ptr addrspace(2) %s, <2 x i32> %w)
  call spir_func void @_Z12write_imagef14ocl_image2d_woDv2_iDv4_f(
    ptr addrspace(1) %out, <2 x i32> %w, <4 x float> %t)
  ret void
}
"""
WORKLOAD = """
[kernel]
source = "copy.ll"
[sizes.small]
n = 8
[launch]
grid = ["n / 4", "n / 4"]
block = [4, 4]
[[args]]
name = "in"
type = "image2d[n, n]"
channel_type = "UNORM_INT8"
init = "uniform"
low = 0
high = 256
[[args]]
name = "out"
type = "image2d[n, n]"
channel_type = "unorm_int8"
[[args]]
name = "s"
type = "sampler"
addressing = "clamp_to_edge"
[check]
reference = "reference.py:copied"
"""


def spec(**entries: Any) -> AnyArgumentSpec:
    return read_any_argument(TomlTable("w.toml", "args[u]", {"name": "u", **entries}), Path())


def test_an_image_gets_numbers_of_its_format() -> None:
    made = spec(type="image2d[n, 2 * n]", order="RG", channel_type="SIGNED_INT16", init="arange")
    image = made.make({"n": 3})
    assert isinstance(image, kc.Image)
    assert image.texels.dtype == np.int16
    assert image.texels.shape == (3, 6, 2)
    assert image.extents == (6, 3, 1)
    assert (image.texels.reshape(-1) == np.arange(36)).all()


@pytest.mark.parametrize(
    ("channel_type", "order", "dtype"),
    [
        ("HALF_FLOAT", "R", np.float16),
        ("FLOAT", "R", np.float32),
        ("UNORM_INT_101010", "RGB", np.uint32),
        ("SNORM_INT8", "A", np.int8),
    ],
)
def test_the_type_of_the_numbers(channel_type: str, order: str, dtype: Any) -> None:
    image = spec(type="image1d[4]", order=order, channel_type=channel_type).make({})
    assert isinstance(image, kc.Image)
    assert image.texels.dtype == dtype
    assert image.texels.shape == (4,)


def test_a_sampler_has_the_defaults_of_a_plain_read() -> None:
    assert spec(type="sampler").make({}) == kc.Sampler(kc.Addressing.CLAMP, kc.Filter.NEAREST)
    made = spec(type="sampler", addressing="repeat", filter="linear", coordinates="normalized")
    assert made.make({}) == kc.Sampler(kc.Addressing.REPEAT, kc.Filter.LINEAR, True)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"type": "image4d[2, 2]"}, "args.u..type: 'image4d' is none of image1d"),
        ({"type": "image2d[2, 2]", "order": "GR"}, "args.u..order: 'GR' is none of r, a, rg"),
        ({"type": "image2d[2, 2]", "order": "RGB"}, "no images of format RGB FLOAT"),
        ({"type": "image3d[2, 2]"}, "image3d of size .2, 2.: 3 needed"),
        ({"type": "image2d[2, 2]", "value": 3}, "args.u..value is not a known key"),
        ({"type": "sampler", "addressing": "roll"}, "'roll' is none of none, clamp_to_edge"),
        ({"type": "sampler", "addressing": "repeat"}, "repeat needs normalized coordinates"),
        ({"type": "sampler", "coordinates": "true"}, "'true' is neither normalized nor"),
    ],
)
def test_what_is_wrong_names_its_key(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        spec(**entries).make({})


def test_a_workload_with_images_is_checked(tmp_path: Path) -> None:
    (tmp_path / "copy.ll").write_text(KERNEL)
    (tmp_path / "w.toml").write_text(WORKLOAD)
    (tmp_path / "reference.py").write_text(
        "def copied(inputs, sizes):\n    return {'out': inputs['in']}\n"
    )
    result = kc.load_workload(tmp_path / "w.toml").run_check()
    assert result.passed
    assert [item.name for item in result.comparisons] == ["out"]
