"""Reads of textures: `TEX`, `TLD`, `TLD4` and `TXD`.

The instruction does not say what texels are: the texture's descriptor does. What modifiers mean and
which registers results go to was found by compiling `tex` and `tld4` with some results in use.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.images.code import (
    DescribedImage,
    ObjectCode,
    SamplerArgument,
    parts_writer,
    single,
)
from kernelcast.ptx_frontend.images.fetches import Fetch, clamping
from kernelcast.ptx_frontend.images.geometries import Geometry
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.memory_access.texture_operands import (
    ObjectNumber,
    TextureShape,
    TextureWords,
    object_number,
    texture_words,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits

__all__ = ["counted_object", "object_code", "write_channels"]

_WITHOUT_GRADIENTS = 120
"""The first architecture whose TEX without a level reads the largest one in every kernel."""
_BASE_LEVEL = -32.0
"""The level that the assembler writes for a read that names none."""
_COMPONENTS = {"R": 0, "G": 1, "A": 3}
_BLUE = 2
_OFFSET_BITS, _GATHER_OFFSET_BITS, _GATHER_OFFSET_STEP = 4, 6, 8
_LAYER_BITS = 16


def _words(site: Site, shape: TextureShape, *, has_level: bool) -> TextureWords:
    """The words of a read, whose modifiers say which there are."""
    return texture_words(
        site,
        shape,
        is_in_register=site.take("B"),
        has_level=has_level,
        has_offsets=site.take("AOFFI"),
    )


@lowers("TEX")
def lower_texture(site: Site) -> None:
    """`[p,] d2, d, words..., geometry[, mask]`: the filtered texel of a level, here the largest.

    The level is a word with `.LL`.
    """
    _refuse_others(site)
    has_level = site.take("LL")
    is_largest = site.take("LZ")
    if not (has_level or is_largest) and site.architecture < _WITHOUT_GRADIENTS:
        raise site.refuse("a level of the gradients between lanes")
    shape = TextureShape.of(site)
    words = _words(site, shape, has_level=has_level)
    with gone_round(site):
        offsets = _offsets(site, shape.geometry, words.offsets, _OFFSET_BITS, _OFFSET_BITS)
        fetch = _fetch(site, shape, words, offsets)
        if words.level is None:
            values = fetch.sampled(fetch.image)
        else:
            is_base = site.compute("setp.eq.f32", 1, words.level, single(_BASE_LEVEL))
            values = fetch.at_level(words.level, is_base)
        _write(site, shape, fetch, values)


@lowers("TLD")
def lower_texel(site: Site) -> None:
    """`[p,] d2, d, words..., geometry[, mask]`: the texel at coordinates that are integers.

    The level is the largest with `.LZ`, a word with `.LL.CL`: the smallest there is or that one.
    """
    _refuse_others(site)
    has_level = site.take("LL")
    if has_level != site.take("CL") or has_level == site.take("LZ"):
        raise site.refuse("a level that there need not be")
    shape = TextureShape.of(site)
    words = _words(site, shape, has_level=has_level)
    with gone_round(site):
        offsets = _offsets(site, shape.geometry, words.offsets, _OFFSET_BITS, _OFFSET_BITS)
        fetch = _fetch(site, shape, words, offsets, is_float=False)
        if words.level is None:
            values = fetch.sampled(fetch.image)
        else:
            values = fetch.at_existing_level(words.level)
        _write(site, shape, fetch, values)


@lowers("TLD4")
def lower_gather(site: Site) -> None:
    """`[p,] d2, d, words..., geometry[, mask]`: a channel of the four texels of the filter.

    `.R`, `.G`, `.B` or `.A` says which one; another `.B` says where the texture's number is.
    """
    _refuse_others(site)
    component = site.choose(_COMPONENTS, _BLUE)
    is_in_register = site.take("B")
    if component == _BLUE:
        is_in_register = site.statement.modifiers.count("B") > 1
    shape = TextureShape.of(site)
    words = texture_words(
        site,
        shape,
        is_in_register=is_in_register,
        has_level=False,
        has_offsets=site.take("AOFFI"),
    )
    with gone_round(site):
        steps = _GATHER_OFFSET_BITS, _GATHER_OFFSET_STEP
        offsets = _offsets(site, shape.geometry, words.offsets, *steps)
        fetch = _fetch(site, shape, words, offsets)
        _write(site, shape, fetch, fetch.gathered(component))


@lowers("TXD")
def lower_gradients(site: Site) -> None:
    """`[p,] d2, d, words, gradients, geometry[, mask]`: the texel of the level they choose.

    Words are the number of the texture in a register (`.B`), the coordinates, and one with the
    layer in its lower half and the offsets in its upper one. Gradients take turns: in x and y by
    the first coordinate, then by the second.
    """
    _refuse_others(site)
    shape = TextureShape.of(site)
    geometry = shape.geometry
    if geometry.numbers > 2:
        raise site.refuse("gradients of three coordinates")
    is_in_register, has_offsets = site.take("B"), site.take("AOFFI")
    count = is_in_register + geometry.numbers + (geometry.has_layer or has_offsets)
    words = list(site.words(site.operand(shape.first), count))
    slopes = site.words(site.operand(shape.first + 1), 2 * geometry.numbers)
    number = words.pop(0) if is_in_register else None
    found = object_number(site, site.operands[shape.first + 2 : shape.end], number)
    places, both = tuple(words[: geometry.numbers]), words[geometry.numbers :]
    with gone_round(site):
        layer = upper = None
        if geometry.has_layer:
            layer = site.compute("and.b32", 32, both[0], Immediate((1 << _LAYER_BITS) - 1))
        if has_offsets:
            upper = site.compute("shr.u32", 32, both[0], Immediate(_LAYER_BITS))
        offsets = _offsets(site, geometry, upper, _OFFSET_BITS, _OFFSET_BITS)
        fetch = _fetch(site, shape, TextureWords(layer, places, None, None, found), offsets)
        _write(site, shape, fetch, fetch.at_gradients([slopes[::2], slopes[1::2]]))


def _refuse_others(site: Site) -> None:
    """Refuses what PTX execution does not have either; takes what changes no value."""
    for name, what in (
        ("DC", "a comparison of depth"),
        ("LB", "a bias of the level"),
        ("NDV", "a level of the gradients between lanes"),
        ("MS", "a texture of several samples"),
    ):
        if name in site.statement.modifiers:
            raise site.refuse(what)
    site.ignore("NODEP")


def _offsets(
    site: Site, geometry: Geometry, word: Operand | None, bits: int, step: int
) -> tuple[Operand, ...]:
    """The offsets of all axes, numbers with a sign, one every `step` bits of a word."""
    if word is None:
        return ()
    return tuple(
        site.compute("bfe.s32", 32, word, Immediate(step * axis), Immediate(bits))
        for axis in range(geometry.numbers)
    )


def object_code(site: Site) -> ObjectCode:
    """Writes the parts of one read or write."""
    return ObjectCode(parts_writer(site.builder, site.span, site.origin), site.span)


def counted_object(site: Site, found: ObjectNumber) -> Register:
    """The address of the object, by the one instruction that counts: the rest is part of it."""
    handle = site.register(64)
    site.builder.append(
        Compute(
            **site.fields("image", is_main=True),
            opcode=OPCODES["image"],
            type=ScalarType.B64,
            source_type=ScalarType.B64,
            destinations=(handle,),
            sources=(found.number,),
        )
    )
    return handle


def _fetch(
    site: Site,
    shape: TextureShape,
    words: TextureWords,
    offsets: tuple[Operand, ...],
    *,
    is_float: bool = True,
) -> Fetch:
    geometry = shape.geometry
    code = object_code(site)
    image = DescribedImage(
        code.code, counted_object(site, words.object), geometry.kind, False, True
    )
    fits, is_line = image.has_shape(geometry.shape, ShapeBits.INTEGER), None
    if is_float and geometry is Geometry.D2:
        # the assembler has no other way to read a line
        is_line = image.has_shape(Geometry.D1.shape, ShapeBits.INTEGER)
        fits = code.compute("or.pred", 1, fits, is_line)
    code.end_unless(fits, f"the texture is no .{geometry.title} one")
    sampler = _sampler(code, image, words.object.sampler if is_float else None)
    if geometry.is_cube:
        sampler = clamping(code, sampler)
    return Fetch(
        code,
        geometry,
        ScalarType.B32,
        image,
        sampler,
        is_float,
        words.layer,
        words.places,
        offsets,
        is_line,
    )


def _sampler(code: ObjectCode, image: DescribedImage, given: Operand | None) -> SamplerArgument:
    """The texture's own sampler, or one that the instruction names by a number that is not 0."""
    bits: Operand = image.field(DescriptorField.SAMPLER)
    if isinstance(given, Register):
        is_given = code.compute("setp.ne.u32", 1, given, Immediate(0))
        bits = code.select(32, is_given, given, bits)
    return SamplerArgument(code, bits, has_axes=True, has_coarse_weights=True)


def _write(site: Site, shape: TextureShape, fetch: Fetch, values: Sequence[Operand]) -> None:
    """The channels of the mask, halves two to a register; the predicate says what was not there."""
    chosen = [value for number, value in enumerate(values) if shape.mask >> number & 1]
    if site.take("F16"):
        site.ignore("RN")
        write_channels(site, shape.first, _halves(fetch.code, chosen), 1)
    else:
        write_channels(site, shape.first, chosen, 2)
    if shape.first > 2 and not site.is_discarded(site.operand(0)):
        site.part("mov.pred", site.destination(site.operand(0)), Immediate(0))


def _halves(code: ObjectCode, values: Sequence[Operand]) -> list[Operand]:
    halves: list[Operand] = [code.compute("cvt.rn.f16.f32", 16, value) for value in values]
    if len(halves) % 2:
        halves.append(Immediate(0))
    return [code.packed(halves[n : n + 2]) for n in range(0, len(halves), 2)]


def write_channels(site: Site, first: int, values: Sequence[Operand], count: int) -> None:
    """Values without gaps: `count` to the last of the first destinations, the others before it."""
    for position, some in ((first - 1, values[:count]), (first - 2, values[count:])):
        targets = site.destinations(site.operand(position), len(some))
        for target, value in zip(targets, some, strict=True):
            if target is not None:
                site.part("mov.b32", target, value)
