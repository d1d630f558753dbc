"""How kernels with images are read, launched and counted."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError, MemoryAccessError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.analysis.control_flow import max_live_registers
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.profile.instruction_counts import instruction_counts
from kernelcast.traces.trace import Trace

HERE = Path(__file__).parents[1]
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "llvm_kernels.py")))
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "image_oracle.py")))

Array = npt.NDArray[Any]
Order, Type, Kind = kc.ChannelOrder, kc.ChannelType, kc.ImageKind
READ = "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f"
READ_AT = "_Z11read_imagef14ocl_image2d_roDv2_i"
WRITE_AT = "_Z12write_imagef14ocl_image2d_woDv2_iDv4_f"
IMAGE, SAMPLER = "ptr addrspace(1)", "ptr addrspace(2)"
NEW_IMAGE = 'target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 0)'
NEW_SAMPLER = 'target("spirv.Sampler")'
INITIALIZER = f"declare spir_func {SAMPLER} @__translate_sampler_initializer(i32)\n"


def sampling(sampler: str, image: str = IMAGE, kind: str = SAMPLER, before: str = "") -> Kernel:
    """Thread i reads at the coordinates of row i; `sampler` is a value of type `kind`."""
    kernel: Kernel = shared.compiled(
        f"{INITIALIZER if before else ''}"
        f"declare spir_func <4 x float> @{READ}({image}, {kind}, <2 x float>)\n"
        f"define spir_kernel void @k({image} %m, {kind} %s, ptr addrspace(1) %c, "
        "ptr addrspace(1) %o) !kernel_arg_type !0 {\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
        "  %cp = getelementptr <2 x float>, ptr addrspace(1) %c, i64 %i\n"
        f"  %v = load <2 x float>, ptr addrspace(1) %cp\n{before}"
        f"  %r = call spir_func <4 x float> @{READ}({image} %m, {kind} {sampler}, <2 x float> %v)\n"
        "  %op = getelementptr <4 x float>, ptr addrspace(1) %o, i64 %i\n"
        "  store <4 x float> %r, ptr addrspace(1) %op\n  ret void\n}\n"
        '!0 = !{!"image2d_t", !"sampler_t", !"float2*", !"float4*"}\n'
    )
    return kernel


def run(kernel: Kernel, *arguments: Any, engine: str = "jit", threads: int = 32) -> Trace:
    return execute(kernel, Launch((1, 1, 1), (threads, 1, 1), arguments), engine=engine)


def picture(height: int = 5, width: int = 7) -> kc.Image:
    values = np.random.default_rng(1).random((height, width, 4), np.float32)
    return kc.Image(values, Order.RGBA, Type.FLOAT)


def some_places() -> Array:
    return np.random.default_rng(2).uniform(-3, 9, (32, 2)).astype(np.float32)


@pytest.mark.parametrize("filter_", kc.Filter)
@pytest.mark.parametrize("addressing", [kc.Addressing.CLAMP, kc.Addressing.CLAMP_TO_EDGE])
def test_a_sampler_is_passed_or_stands_in_the_kernel(
    addressing: kc.Addressing, filter_: kc.Filter
) -> None:
    sampler, image, where = kc.Sampler(addressing, filter_), picture(), some_places()
    call = f"  %t = call spir_func {SAMPLER} @__translate_sampler_initializer(i32 {sampler.bits})\n"
    passed, stands = sampling("%s"), sampling("%t", before=call)
    expected = oracle.sampled(image, sampler, where)
    for kernel, engine in ((passed, "jit"), (stands, "jit"), (stands, "reference")):
        out = np.zeros((32, 4), np.float32)
        run(kernel, image, sampler, where, out, engine=engine)
        assert np.array_equal(out, expected)


def test_the_types_of_new_modules_are_read() -> None:
    image, sampler, where = picture(), kc.Sampler(), some_places()
    out = np.zeros((32, 4), np.float32)
    run(sampling("%s", NEW_IMAGE, NEW_SAMPLER), image, sampler, where, out)
    assert np.array_equal(out, oracle.sampled(image, sampler, where))


def test_the_source_says_what_is_an_image() -> None:
    first, second, third, _ = sampling("%s").parameters
    assert first.image is Kind.IMAGE_2D
    assert second.is_sampler
    assert third.image is None
    assert not third.is_sampler


def test_the_lists_of_old_modules_are_read() -> None:
    kernel = shared.compiled(
        f"define spir_kernel void @k({IMAGE} %m) {{\n  ret void\n}}\n"
        f"!opencl.kernels = !{{!0}}\n!0 = !{{ptr @k, !1, !2}}\n"
        '!1 = !{!"kernel_arg_addr_space", i32 1}\n'
        '!2 = !{!"kernel_arg_type", !"__read_only image3d_t"}\n'
    )
    assert kernel.parameters[0].image is Kind.IMAGE_3D


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, np.zeros(4, np.float32), r"argument 1 \(m\) is image2d, got an array"),
        (1, 3, r"argument 2 \(s\) is sampler, got int"),
        (1, picture(), r"argument 2 \(s\) is of type image2d but the kernel takes sampler"),
        (0, kc.Sampler(), r"argument 1 \(m\) is of type sampler but the kernel takes image2d"),
        (
            0,
            kc.Image(np.zeros((2, 2, 2), np.float32), Order.R, Type.FLOAT, Kind.IMAGE_3D),
            "is of type image3d but the kernel takes image2d",
        ),
    ],
)
def test_a_wrong_object_is_an_error(position: int, value: Any, message: str) -> None:
    arguments: list[Any] = [picture(), kc.Sampler(), some_places(), np.zeros((32, 4), np.float32)]
    arguments[position] = value
    kernel = sampling("%s")
    with pytest.raises(LaunchError, match=message):
        run(kernel, *arguments)


def test_a_read_is_one_instruction_with_its_memory_access() -> None:
    """Native and source counts both have one; four texels are fetched where the filter asks."""
    where = np.full((32, 2), 2.5, np.float32)
    where[:, 0] += np.arange(32) % 4
    found = {}
    for filter_ in kc.Filter:
        out = np.zeros((32, 4), np.float32)
        trace = run(sampling("%s"), picture(8, 8), kc.Sampler(filter=filter_), where, out)
        rows = [row for row in trace.instructions if row.unit == "texture"]
        assert [row.is_counted_natively for row in rows] == [True]
        counts = instruction_counts(trace)
        inner = [row for row in trace.instructions if row.is_part]
        assert not any(row.is_counted_natively or row.is_source for row in inner)
        parts = {row.pc for row in inner}
        accessed = [pc for pc in trace.accesses.pc.tolist() if pc in parts]
        assert {trace.instructions[pc].cache for pc in accessed} == {"nc"}
        assert {trace.instructions[pc].access_bytes for pc in accessed} == {16}
        found[filter_] = (counts.source_warp_instructions, counts.warp_instructions, len(accessed))
    nearest, linear = found[kc.Filter.NEAREST], found[kc.Filter.LINEAR]
    assert nearest[:2] == linear[:2]
    assert (nearest[2], linear[2]) == (1, 4)


def test_parts_of_a_read_need_no_registers() -> None:
    assert max_live_registers(sampling("%s")) < 20


def test_texels_outside_are_not_fetched() -> None:
    where = np.full((32, 2), -3, np.float32)
    out = np.ones((32, 4), np.float32)
    trace = run(sampling("%s"), picture(), kc.Sampler(kc.Addressing.CLAMP), where, out)
    assert not out.any()
    rows = [trace.instructions[pc] for pc in trace.accesses.pc.tolist()]
    assert not any(row.is_part for row in rows)


def at_coordinates(write: bool) -> Kernel:
    """Thread i reads or writes the texel (i, 1)."""
    name = WRITE_AT if write else READ_AT
    declared = f"void @{name}({IMAGE}, <2 x i32>, <4 x float>)"
    call = (
        f"  call spir_func void @{name}({IMAGE} %m, <2 x i32> %v, <4 x float> splat (float 1.0))\n"
    )
    if not write:
        declared = f"<4 x float> @{name}({IMAGE}, <2 x i32>)"
        call = (
            f"  %r = call spir_func <4 x float> @{name}({IMAGE} %m, <2 x i32> %v)\n"
            "  %op = getelementptr <4 x float>, ptr addrspace(1) %o, i64 %i\n"
            "  store <4 x float> %r, ptr addrspace(1) %op\n"
        )
    kernel: Kernel = shared.compiled(
        f"declare spir_func {declared}\n"
        f"define spir_kernel void @k({IMAGE} %m, ptr addrspace(1) %o) {{\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n  %n = trunc i64 %i to i32\n"
        "  %v = insertelement <2 x i32> <i32 0, i32 1>, i32 %n, i32 0\n"
        f"{call}  ret void\n}}\n"
    )
    return kernel


@pytest.mark.parametrize("engine", shared.ENGINES)
@pytest.mark.parametrize("write", [False, True])
def test_a_texel_beyond_the_image_is_an_error(engine: str, write: bool) -> None:
    image, out = picture(2, 4), np.zeros((32, 4), np.float32)
    with pytest.raises(MemoryAccessError, match="texel outside of its image"):
        run(at_coordinates(write), image, out, engine=engine)


def test_pitches_are_those_of_the_array() -> None:
    """Rows of five texels in an array of eight a row; the last row has no gap behind it."""
    values = np.random.default_rng(4).random((2, 8, 4), np.float32)
    flat = values.reshape(-1)[: (8 + 5) * 4].copy()
    image = kc.Image(flat, Order.RGBA, Type.FLOAT, size=(5, 2), row_pitch=128)
    out = np.zeros((5, 4), np.float32)
    run(at_coordinates(write=False), image, out, threads=5)
    assert np.array_equal(out, values[1, :5])


def test_an_image_may_be_read_and_written() -> None:
    """An array that is two arguments is one memory."""
    image = picture(2, 32)
    out = np.zeros((32, 4), np.float32)
    run(at_coordinates(write=True), image, out)
    run(at_coordinates(write=False), kc.Image(image.texels, Order.RGBA, Type.FLOAT), out)
    assert (out == 1).all()


QUERIES = {
    "get_image_width": 7,
    "get_image_height": 5,
    "get_image_channel_data_type": 0x10DE,
    "get_image_channel_order": 0x10B5,
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_describes_an_image(name: str) -> None:
    symbol = f"_Z{len(name)}{name}14ocl_image2d_ro"
    kernel = shared.with_index(
        f"  %r = call spir_func i32 @{symbol}({IMAGE} %m)\n"
        "  store i32 %r, ptr addrspace(1) %p\n  ret void",
        f"ptr addrspace(1) %o, {IMAGE} %m",
        f"declare spir_func i32 @{symbol}({IMAGE})",
    )
    for engine in shared.ENGINES:
        out = np.zeros(32, np.int32)
        run(kernel, out, picture(), engine=engine)
        assert (out == QUERIES[name]).all()


def test_layers_depth_and_dimensions() -> None:
    array, solid = "20ocl_image2d_array_ro", "14ocl_image3d_ro"
    kernel = shared.with_index(
        f"  %a = call spir_func i64 @_Z20get_image_array_size{array}({IMAGE} %m)\n"
        f"  %d = call spir_func i32 @_Z15get_image_depth{solid}({IMAGE} %n3)\n"
        f"  %s = call spir_func <4 x i32> @_Z13get_image_dim{solid}({IMAGE} %n3)\n"
        "  %z = extractelement <4 x i32> %s, i32 2\n  %w = extractelement <4 x i32> %s, i32 3\n"
        "  %b = trunc i64 %a to i32\n  %e = mul i32 %b, 100\n  %f = mul i32 %d, 10\n"
        "  %g = add i32 %e, %f\n  %h = add i32 %g, %z\n  %j = add i32 %h, %w\n"
        "  store i32 %j, ptr addrspace(1) %p\n  ret void",
        f"ptr addrspace(1) %o, {IMAGE} %m, {IMAGE} %n3",
        f"declare spir_func i64 @_Z20get_image_array_size{array}({IMAGE})\n"
        f"declare spir_func i32 @_Z15get_image_depth{solid}({IMAGE})\n"
        f"declare spir_func <4 x i32> @_Z13get_image_dim{solid}({IMAGE})",
    )
    layered = kc.Image(np.zeros((3, 2, 2), np.float32), Order.R, Type.FLOAT, Kind.IMAGE_2D_ARRAY)
    solid_image = kc.Image(np.zeros((4, 2, 2), np.float32), Order.R, Type.FLOAT, Kind.IMAGE_3D)
    out = np.zeros(32, np.int32)
    run(kernel, out, layered, solid_image)
    assert (out == 344).all()


def test_a_depth_image_reads_one_number() -> None:
    symbol = "_Z11read_imagef20ocl_image2d_depth_roDv2_i"
    kernel = shared.with_index(
        "  %v = insertelement <2 x i32> <i32 0, i32 1>, i32 %n, i32 0\n"
        f"  %r = call spir_func float @{symbol}({IMAGE} %m, <2 x i32> %v)\n"
        "  %b = bitcast float %r to i32\n  store i32 %b, ptr addrspace(1) %p\n  ret void",
        f"ptr addrspace(1) %o, {IMAGE} %m",
        f"declare spir_func float @{symbol}({IMAGE}, <2 x i32>)",
    )
    values = np.random.default_rng(5).integers(0, 2**16, (2, 32), np.uint16)
    out = np.zeros(32, np.float32)
    run(kernel, out, kc.Image(values, Order.DEPTH, Type.UNORM_INT16))
    assert np.array_equal(out, values[1].astype(np.float32) / np.float32(65535))


def test_half_results_are_rounded() -> None:
    symbol = "_Z11read_imageh14ocl_image2d_roDv2_i"
    kernel = shared.with_index(
        "  %v = insertelement <2 x i32> <i32 0, i32 1>, i32 %n, i32 0\n"
        f"  %r = call spir_func <4 x half> @{symbol}({IMAGE} %m, <2 x i32> %v)\n"
        "  %x = extractelement <4 x half> %r, i32 1\n  %b = bitcast half %x to i16\n"
        "  %w = zext i16 %b to i32\n  store i32 %w, ptr addrspace(1) %p\n  ret void",
        f"ptr addrspace(1) %o, {IMAGE} %m",
        f"declare spir_func <4 x half> @{symbol}({IMAGE}, <2 x i32>)",
    )
    image, out = picture(2, 32), np.zeros(32, np.int32)
    run(kernel, out, image)
    assert np.array_equal(out, image.texels[1, :, 1].astype(np.float16).view(np.uint16))
