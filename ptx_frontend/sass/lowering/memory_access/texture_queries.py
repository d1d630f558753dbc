"""Sizes of textures and surfaces: `TXQ`."""

from __future__ import annotations

from kernelcast.ptx_frontend.images.code import DescribedImage
from kernelcast.ptx_frontend.images.levels import level_image
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.memory_access.texture_operands import (
    mask_at,
    object_number,
)
from kernelcast.ptx_frontend.sass.lowering.memory_access.textures import (
    counted_object,
    object_code,
    write_channels,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import NameOperand
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.launch.image_descriptors import DescriptorField

__all__: list[str] = []

_SIZES = (DescriptorField.WIDTH, DescriptorField.HEIGHT, DescriptorField.DEPTH)
_NUMBER = 4


@lowers("TXQ")
def lower_query(site: Site) -> None:
    """`d2, d, words, TEX_HEADER_DIMENSION, number, mask`: width, height and depth of a level.

    With `.B` the first word is the number of the texture; the level is the last one.
    """
    site.ignore("NODEP")
    is_in_register = site.take("B")
    words = list(site.words(site.operand(2), 1 + is_in_register))
    asked = site.operand(3)
    if not isinstance(asked, NameOperand) or asked.name != "TEX_HEADER_DIMENSION":
        raise site.refuse("a question that is not about sizes")
    mask = mask_at(site, len(site.operands) - 1)
    if mask >> len(_SIZES):
        raise site.refuse("the number of levels")
    number = words.pop(0) if is_in_register else None
    found = object_number(site, site.operands[_NUMBER:-1], number)
    with gone_round(site):
        code = object_code(site)
        handle = counted_object(site, found)
        image = DescribedImage(code.code, handle, ImageKind.IMAGE_2D, False, True)
        image = level_image(code, image, words[0])
        sizes = [image.field(field) for place, field in enumerate(_SIZES) if mask >> place & 1]
        write_channels(site, 2, sizes, 2)
