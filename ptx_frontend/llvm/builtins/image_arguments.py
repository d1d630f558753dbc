"""What a call says of the image and the sampler that it takes."""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.images.code import DescribedImage, SamplerArgument
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.isa.ir.kernel import Immediate, Register

__all__ = ["image_argument", "image_kind", "sampler_argument"]

_KINDS = {kind.title: kind for kind in ImageKind}
_IMAGE = re.compile(
    r"(?:ocl_|opencl[._])?(?P<kind>image[123]d(?:_array|_buffer)?)(?P<depth>_depth)?"
    r"(?:_(?P<access>ro|wo|rw))?(?:_t)?"
)


def image_kind(name: str) -> ImageKind | None:
    """The kind that the name of a type tells, such as `ocl_image2d_ro` or `image2d_t`."""
    found = _IMAGE.fullmatch(name)
    return None if found is None else _KINDS.get(found["kind"])


def image_argument(call: BuiltinCall) -> DescribedImage:
    """The first argument of a call."""
    parameter = call.parameters[0]
    named = parameter.pointee or parameter
    found, kind = _IMAGE.fullmatch(named.name), image_kind(named.name)
    if found is None or kind is None:
        raise call.refused(f"images of type {named.name or 'unknown'}")
    handle = call.code.in_register(call.site.arguments[0].parts[0], 64)
    if handle.bits != 64:
        raise call.refused("its first argument is no image")
    return DescribedImage(call.code, handle, kind, bool(found["depth"]), found["access"] == "ro")


def sampler_argument(call: BuiltinCall, index: int | None) -> SamplerArgument:
    """Argument `index` as a sampler; None for reads without one."""
    if index is None:
        return SamplerArgument(call, Immediate(0))
    bits = call.site.arguments[index].parts[0]
    if isinstance(bits, Register) and bits.bits == 64:
        bits = call.compute("cvt.u32.u64", 32, bits)
    return SamplerArgument(call, bits)
