"""Reads of textures at places that are integers: `TLD.LZ`.

The instruction does not say what texels are: the texture's descriptor does. Which registers results
go to was found by compiling `tex` with some of its results in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelcast.ptx_frontend.images.code import DescribedImage, SamplerArgument
from kernelcast.ptx_frontend.images.coordinates import axes_of
from kernelcast.ptx_frontend.images.filtering import Reading
from kernelcast.ptx_frontend.images.texels import CHANNELS
from kernelcast.ptx_frontend.ptx.legal.texture_forms import Geometry
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    NameOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits

if TYPE_CHECKING:
    from kernelcast.ptx_frontend.llvm.lowering.code import Code

__all__: list[str] = []

_GEOMETRIES = {"1D": Geometry.D1, "2D": Geometry.D2}
_HOPPER = 90
_WORD_BYTES = 4
_ALL_CHANNELS = 0xF


@dataclass(frozen=True, slots=True)
class _TexelCode:
    """Writes the parts of one read."""

    site: Site
    code: Code

    @staticmethod
    def begun(site: Site) -> _TexelCode:
        # the package of the writer is large, and few files have textures
        from kernelcast.ptx_frontend.llvm.lowering.code import Code

        code = Code(site.builder)
        code.locate(site.span, site.origin)
        code.begin_parts()
        return _TexelCode(site, code)

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        return self.code.compute(mnemonic, bits, *sources)

    def select(self, bits: int, condition: Operand, yes: Operand, no: Operand) -> Register:
        return self.compute(f"selp.b{bits}", bits, yes, no, condition)


@lowers("TLD")
def lower_texel(site: Site) -> None:
    """`d2, d, places, number, geometry[, mask]`: channels of the mask, two to each register."""
    site.ignore("NODEP")
    if not site.take("LZ"):
        raise site.refuse("a level of its own")
    geometry, mask, position = _geometry(site)
    places, number = _sources(site, geometry, position)
    with gone_round(site):
        code = _TexelCode.begun(site)
        image = DescribedImage(code.code, _counted(site, number), geometry.kind, False, True)
        values = _channels(code, image, geometry, places)
        _write(site, values, mask)


def _geometry(site: Site) -> tuple[Geometry, int, int]:
    """The geometry, the mask of the channels, and where among the operands the geometry is."""
    for position, operand in enumerate(site.operands):
        if not isinstance(operand, NameOperand):
            continue
        geometry = _GEOMETRIES.get(operand.name)
        if geometry is None:
            raise site.refuse(f"a texture of geometry {operand.name}")
        mask: Operand = Immediate(_ALL_CHANNELS)
        if position + 1 < len(site.operands):
            mask = site.word(site.operand(position + 1))
        if not isinstance(mask, Immediate):
            raise site.refuse("a mask of channels in a register")
        return geometry, mask.bits, position
    raise site.refuse("a texture without a geometry")


def _sources(site: Site, geometry: Geometry, end: int) -> tuple[tuple[Operand, ...], Register]:
    """The places and the number of the texture, among the operands up to `end`.

    From Hopper on a uniform register has the number. Before, `.SCR` deals all words out to two
    operands, the larger half to the first; the number is the last of them (`.B`), or a word of a
    constant bank.
    """
    count = geometry.numbers
    if not site.take("SCR"):
        if site.architecture < _HOPPER or end not in (4, 5):
            raise site.refuse("a texture of no known place")
        if end == 5 and site.word(site.operand(4)) != Immediate(0):
            raise site.refuse("a texture with a sampler of its own")
        return site.words(site.operand(2), count), _wide(site, site.word(site.operand(3)))
    is_in_register = site.take("B")
    words = count + is_in_register
    first = (words + 1) // 2
    found = list(site.words(site.operand(2), first))
    if words > 1:
        found += site.words(site.operand(3), words - first)
    following = site.operands[3 + (words > 1) : end]
    if is_in_register and not following:
        return tuple(found[:-1]), _wide(site, found[-1])
    return tuple(found), _wide(site, _of_bank(site, following))


def _of_bank(site: Site, operands: Sequence[SassOperand]) -> Operand:
    """The word of a constant bank: the bank's number and the word's."""
    numbers = [o.value for o in operands if isinstance(o, ImmediateOperand) and o.value is not None]
    if len(numbers) != 2 or len(operands) != 2:
        raise site.refuse("a texture of no known place")
    return site.constant(ConstantOperand(numbers[0], _WORD_BYTES * numbers[1]), _WORD_BYTES)


def _wide(site: Site, number: Operand) -> Register:
    return site.compute("cvt.u64.u32", 64, site.in_register(number, 32))


def _counted(site: Site, number: Register) -> Register:
    """The address of the object, by the one instruction that counts: the rest is part of it."""
    handle = site.register(64)
    site.builder.append(
        Compute(
            **site.fields("image", is_main=True),
            opcode=OPCODES["image"],
            type=ScalarType.B64,
            source_type=ScalarType.B64,
            destinations=(handle,),
            sources=(number,),
        )
    )
    return handle


def _channels(
    code: _TexelCode, image: DescribedImage, geometry: Geometry, places: tuple[Operand, ...]
) -> tuple[Register, ...]:
    """The four channels, integers or floating-point numbers as the texture's texels are."""
    writer, builder = code.code, code.site.builder
    shape = image.field(DescriptorField.SHAPE)
    others = Immediate(0xFFFFFFFF ^ ShapeBits.INTEGER)
    fits = code.compute(
        "setp.eq.u32", 1, code.compute("and.b32", 32, shape, others), Immediate(geometry.shape)
    )
    here = builder.new()
    reason = f"the texture is no .{geometry.title} one"
    writer.branch(fits, here, builder.trap(code.site.span, reason, is_part=True))
    builder.place(here)
    sampler = SamplerArgument(
        code, image.field(DescriptorField.SAMPLER), has_axes=True, has_coarse_weights=True
    )
    values = tuple(writer.register(32) for _ in range(CHANNELS))
    flag = code.compute("and.b32", 32, shape, Immediate(ShapeBits.INTEGER))
    is_integer = code.compute("setp.ne.u32", 1, flag, Immediate(0))
    integers, numbers, after = builder.new(), builder.new(), builder.new()
    writer.branch(is_integer, integers, numbers)
    for block, element in ((integers, ScalarType.S32), (numbers, ScalarType.F32)):
        builder.place(block)
        axes = axes_of(code, image, sampler, places, False, ())
        found = Reading(code, image, element, CHANNELS, is_texture=True).texel(axes)
        for value, channel in zip(values, found, strict=True):
            writer.move(value, channel)
        writer.jump(after)
    builder.place(after)
    return values


def _write(site: Site, values: Sequence[Register], mask: int) -> None:
    """The channels of the mask, without gaps: two to the second destination, two to the first."""
    chosen = [value for number, value in enumerate(values) if mask >> number & 1]
    for operand, some in ((site.operand(1), chosen[:2]), (site.operand(0), chosen[2:])):
        targets = site.destinations(operand, len(some))
        for target, value in zip(targets, some, strict=True):
            if target is not None:
                site.part("mov.b32", target, value)
