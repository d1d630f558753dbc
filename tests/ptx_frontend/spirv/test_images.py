"""SPIR-V: images and samplers, written as the words of modules and executed."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import SpirvError, UnsupportedInstruction
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

HERE = Path(__file__).parents[1]
assembly: Any = SimpleNamespace(**runpy.run_path(str(HERE / "spirv_assembly.py")))
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "image_oracle.py")))

MODULE = """
OpCapability 4
OpCapability 6
OpCapability 11
OpCapability 13
OpCapability 20
OpMemoryModel 2 2
OpEntryPoint 6 %k "k"
OpDecorate %gid 11 28
%void = OpTypeVoid
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%v2 = OpTypeVector %i32 2
%v2f = OpTypeVector %f32 2
%v4f = OpTypeVector %f32 4
%v3l = OpTypeVector %i64 3
%c0 = OpConstant %i32 0
%c1 = OpConstant %i32 1
%f0 = OpConstant %f32 0
%f1 = OpConstant %f32 1065353216
%half = OpConstant %f32 1056964608
%in = OpTypeImage %void 1 0 0 0 0 0 0
%made = OpTypeImage %void 1 0 0 0 0 0 1
%sampler = OpTypeSampler
%both = OpTypeSampledImage %in
%fixed = OpConstantSampler %sampler 2 0 1
%pin = OpTypePointer 1 %v3l
%pf = OpTypePointer 5 %v4f
%gid = OpVariable %pin 1
%t = OpTypeFunction %void %in %made %sampler %pf
%k = OpFunction %void 0 %t
%a = OpFunctionParameter %in
%b = OpFunctionParameter %made
%s = OpFunctionParameter %sampler
%o = OpFunctionParameter %pf
%l = OpLabel
%g = OpLoad %v3l %gid 2 32
%i = OpCompositeExtract %i64 %g 0
%n = OpUConvert %i32 %i
%nf = OpConvertUToF %f32 %n
%x = OpFMul %f32 %nf %half
%where = OpCompositeConstruct %v2f %x %half
%p = OpInBoundsPtrAccessChain %pf %o %i
{body}
OpStore %p %r 2 16
OpReturn
OpFunctionEnd
"""
WHERE = np.stack([np.arange(32, dtype=np.float32) / 2, np.full(32, 0.5, np.float32)], -1)


def compiled(body: str, source: str = MODULE) -> Kernel:
    text = read_spirv(assembly.assemble(source.format(body=body)), "k.spv")
    module = read_llvm(text.encode(), "k.spv", is_text=True)
    assert not module.rejected, module.rejected["k"][0]
    return module.kernels["k"]


def results(body: str, *sampler: Any) -> tuple[kc.Image, kc.Image, Any]:
    """The image that is read, the one that is written, and what every thread stored."""
    values = np.random.default_rng(1).random((3, 8, 4), np.float32)
    order, type_ = kc.ChannelOrder.RGBA, kc.ChannelType.FLOAT
    image, target = (kc.Image(x, order, type_) for x in (values, np.zeros((1, 32, 4), np.float32)))
    out = np.zeros((32, 4), np.float32)
    arguments = (image, target, sampler[0] if sampler else kc.Sampler(), out)
    execute(compiled(body), Launch((1, 1, 1), (32, 1, 1), arguments), engine="reference")
    return image, target, out


@pytest.mark.parametrize("is_linear", [False, True])
def test_a_sampler_that_is_passed(is_linear: bool) -> None:
    filter_ = kc.Filter.LINEAR if is_linear else kc.Filter.NEAREST
    sampler = kc.Sampler(kc.Addressing.CLAMP_TO_EDGE, filter_)
    image, _, out = results(
        "%m = OpSampledImage %both %a %s\n%r = OpImageSampleExplicitLod %v4f %m %where 2 %f0",
        sampler,
    )
    assert np.array_equal(out, oracle.sampled(image, sampler, WHERE))


def test_a_constant_sampler() -> None:
    image, _, out = results(
        "%m = OpSampledImage %both %a %fixed\n%r = OpImageSampleExplicitLod %v4f %m %where 2 %f0"
    )
    sampler = kc.Sampler(kc.Addressing.CLAMP, kc.Filter.LINEAR)
    assert np.array_equal(out, oracle.sampled(image, sampler, WHERE))


def test_texels_are_read_and_written() -> None:
    image, target, out = results(
        "%x7 = OpBitwiseAnd %i32 %n %c1\n%at = OpCompositeConstruct %v2 %x7 %c1\n"
        "%r = OpImageRead %v4f %a %at\n"
        "%to = OpCompositeConstruct %v2 %n %c0\nOpImageWrite %b %to %r"
    )
    expected = image.texels[1, np.arange(32) & 1]
    assert np.array_equal(out, expected)
    assert np.array_equal(target.texels[0], expected)


def test_what_describes_an_image() -> None:
    """SPIR-V counts orders and types from 0: RGBA is 5, FLOAT 14."""
    _, _, out = results(
        "%size = OpImageQuerySizeLod %v2 %a %c0\n"
        "%w = OpCompositeExtract %i32 %size 0\n%h = OpCompositeExtract %i32 %size 1\n"
        "%order = OpImageQueryOrder %i32 %a\n%type = OpImageQueryFormat %i32 %a\n"
        "%q0 = OpConvertUToF %f32 %w\n%q1 = OpConvertUToF %f32 %h\n"
        "%q2 = OpConvertUToF %f32 %order\n%q3 = OpConvertUToF %f32 %type\n"
        "%r = OpCompositeConstruct %v4f %q0 %q1 %q2 %q3"
    )
    assert (out == [8, 3, 5, 14]).all()


def test_parameters_are_known_as_images() -> None:
    first, second, third, last = compiled("%r = OpCompositeConstruct %v4f %x %x %x %x").parameters
    assert first.image is second.image is kc.ImageKind.IMAGE_2D
    assert third.is_sampler
    assert last.image is None


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (
            "%m = OpSampledImage %both %a %s\n%r = OpImageSampleExplicitLod %v4f %m %where 2 %f1",
            UnsupportedInstruction,
            "levels of detail are not supported",
        ),
        (
            "%m = OpSampledImage %both %a %s\n"
            "%r = OpImageSampleExplicitLod %v4f %m %where 4 %where %where",
            UnsupportedInstruction,
            "image operands 0x4 are not supported",
        ),
        (
            "%r = OpImageSampleExplicitLod %v4f %a %where 2 %f0",
            SpirvError,
            "is no image with a sampler",
        ),
        ("%m = OpSampledImage %both %s %s", SpirvError, "is no image"),
        ("%m = OpSampledImage %both %a %a", SpirvError, "is no sampler"),
        ("%q = OpImageQuerySizeLod %i32 %a %c0", SpirvError, "gives 1 numbers for 2 axes"),
    ],
)
def test_what_is_refused(body: str, kind: type[Exception], message: str) -> None:
    if "%r =" not in body:
        body += "\n%r = OpCompositeConstruct %v4f %x %x %x %x"
    with pytest.raises((kind, AssertionError), match=message):
        compiled(body)


def test_cube_maps_are_refused() -> None:
    source = MODULE.replace("OpTypeImage %void 1 0 0 0 0 0 0", "OpTypeImage %void 3 0 0 0 0 0 0")
    with pytest.raises((UnsupportedInstruction, AssertionError), match="images of dimension 3"):
        compiled("%r = OpCompositeConstruct %v4f %x %x %x %x", source)
