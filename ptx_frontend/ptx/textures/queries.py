"""What a kernel asks of its textures, samplers and surfaces: `txq`, `suq` and `istypep`."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.images.code import DescribedImage
from kernelcast.ptx_frontend.images.levels import level_image
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import gone_round
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.textures.objects import TextureCode, declared_sampler
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField
from kernelcast.simcore.launch.images import AXIS_BITS

__all__ = ["lower_query"]

_FIELDS: Mapping[str, DescriptorField] = {
    "width": DescriptorField.WIDTH,
    "height": DescriptorField.HEIGHT,
    "depth": DescriptorField.DEPTH,
    "array_size": DescriptorField.LAYERS,
    "channel_data_type": DescriptorField.CHANNEL_TYPE,
    "channel_order": DescriptorField.CHANNEL_ORDER,
    "num_mipmap_levels": DescriptorField.LEVELS,
}
_SAMPLER_FIELDS = (
    *("normalized_coords", "force_unnormalized_coords", "filter_mode"),
    *("addr_mode_0", "addr_mode_1", "addr_mode_2"),
)
_ADDRESSING_NUMBERS = (3, 3, 4, 0, 1)
"""Numbers of addressing modes by half of the sampler's bits.

PTX's order is wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
"""
_LINEAR_BIT = 5


def lower_query(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the query; also a `mov` of what a variable stands for."""
    root, *parts = site.mnemonic.split(".")
    if root == "istypep":
        raise site.refused()
    with gone_round(site, builder):
        if root == "mov":
            _move(site, builder)
        else:
            _query(site, builder, parts)


def _move(site: Site, builder: BasicBlockBuilder) -> None:
    site.expect_operands(2)
    if site.mnemonic not in ("mov.u64", "mov.b64", "mov.s64"):
        raise site.unsupported(f"{site.mnemonic!r} of a texture, surface or sampler")
    code = TextureCode.begun(site, builder)
    number = code.accessed(site.operands[1], 1, "mov")
    register = site.destination(site.operands[0], 0, ScalarType.B64)
    if register is not None:
        code.code.move(register, number)


def _query(site: Site, builder: BasicBlockBuilder, parts: list[str]) -> None:
    has_level = parts[:1] == ["level"]
    field = parts[has_level] if len(parts) == 2 + has_level and parts[-1] == "b32" else ""
    if field not in _FIELDS and field not in _SAMPLER_FIELDS:
        raise site.refused()
    site.expect_operands(2 + has_level)
    operand = site.operands[1]
    if not isinstance(operand, syntax.AddressOperand) or operand.base is None:
        raise site.error(f"{site.mnemonic!r} takes an object in brackets here", 1)
    name = syntax.NameOperand(operand.base)
    code = TextureCode.begun(site, builder)
    if field in _SAMPLER_FIELDS:
        found = _of_sampler(code, name, field)
    else:
        image = DescribedImage(code.code, code.accessed(name, 1), ImageKind.IMAGE_2D, False, True)
        if has_level:
            level = site.source(site.operands[2], 2, ScalarType.U32)
            image = level_image(code, image, level)
        found = image.field(_FIELDS[field])
    register = site.destination(site.operands[0], 0, ScalarType.B32)
    if register is not None:
        code.code.move(register, found)


def _of_sampler(code: TextureCode, name: syntax.NameOperand, field: str) -> Operand:
    """Emits a field of the sampler itself, or of the one that the texture has."""
    declared = declared_sampler(code.site, name)
    if declared is not None:
        bits: Operand = Immediate(declared[0] | (not declared[1]))
        number = code.code.in_register(bits, 64)
        bits = code.compute("cvt.u32.u64", 32, code.counted(number, "image"))
    elif code.is_sampler(name):
        bits = code.compute("cvt.u32.u64", 32, code.accessed(name, 1))
    else:
        handle = code.accessed(name, 1)
        image = DescribedImage(code.code, handle, ImageKind.IMAGE_2D, False, True)
        bits = image.field(DescriptorField.SAMPLER)
    if field == "filter_mode":
        return code.compute("bfe.u32", 32, bits, Immediate(_LINEAR_BIT), Immediate(1))
    if field.startswith("addr_mode"):
        table = sum(number << (4 * half) for half, number in enumerate(_ADDRESSING_NUMBERS))
        first = AXIS_BITS * int(field[-1]) + 1
        half_mode = code.compute("bfe.u32", 32, bits, Immediate(first), Immediate(3))
        shift = code.compute("shl.b32", 32, half_mode, Immediate(2))
        moved = code.compute("shr.u32", 32, Immediate(table), shift)
        return code.compute("and.b32", 32, moved, Immediate(15))
    is_normalized = code.compute("and.b32", 32, bits, Immediate(1))
    if field == "normalized_coords":
        return is_normalized
    return code.compute("xor.b32", 32, is_normalized, Immediate(1))
