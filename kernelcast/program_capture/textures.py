"""Textures and surfaces of a program, from the words of its request."""

from __future__ import annotations

from kernelcast.errors import KernelcastError
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.protocol import Status, TextureRequest
from kernelcast.simcore.isa.ir.image_formats import ChannelOrder, ChannelType, ImageKind
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.images import Addressing, Filter, Image
from kernelcast.simcore.launch.textures import ReadMode, Surface, Texture

__all__ = ["texture_of"]

_ORDERS = {1: ChannelOrder.R, 2: ChannelOrder.RG, 4: ChannelOrder.RGBA}
_SIGNED, _UNSIGNED, _FLOAT = 0, 1, 2
"""Numbers of cudaChannelFormatKind."""
_TYPES = {
    (_SIGNED, 8): ChannelType.SIGNED_INT8,
    (_SIGNED, 16): ChannelType.SIGNED_INT16,
    (_SIGNED, 32): ChannelType.SIGNED_INT32,
    (_UNSIGNED, 8): ChannelType.UNSIGNED_INT8,
    (_UNSIGNED, 16): ChannelType.UNSIGNED_INT16,
    (_UNSIGNED, 32): ChannelType.UNSIGNED_INT32,
    (_FLOAT, 16): ChannelType.HALF_FLOAT,
    (_FLOAT, 32): ChannelType.FLOAT,
}
_ADDRESSING = (Addressing.WRAP, Addressing.CLAMP_TO_EDGE, Addressing.MIRROR, Addressing.BORDER)
"""What the numbers of cudaTextureAddressMode mean, from 0 on."""
_KINDS = {
    (1, False): ImageKind.IMAGE_1D,
    (1, True): ImageKind.IMAGE_1D_ARRAY,
    (2, False): ImageKind.IMAGE_2D,
    (2, True): ImageKind.IMAGE_2D_ARRAY,
    (3, False): ImageKind.IMAGE_3D,
}


def texture_of(
    request: TextureRequest, levels: tuple[int, ...], memory: DeviceMemory
) -> Texture | Surface:
    """The texture or surface over the memory; CallError when CUDA would not create it.

    `levels`: addresses of the levels of a mipmapped array.
    """
    try:
        return _texture_of(request, levels, memory)
    except KernelcastError as error:
        raise CallError(Status.INVALID_VALUE, str(error)) from None


def _texture_of(
    request: TextureRequest, levels: tuple[int, ...], memory: DeviceMemory
) -> Texture | Surface:
    images = _images(request, levels, memory)
    if request.is_surface:
        return Surface(images[0], images[0].kind)
    modes = (request.address_mode_x, request.address_mode_y, request.address_mode_z)
    return Texture(
        images if len(images) > 1 else images[0],
        images[0].kind,
        addressing=tuple(_ADDRESSING[mode % len(_ADDRESSING)] for mode in modes),
        filter=Filter.LINEAR if request.filter_mode else Filter.NEAREST,
        normalized_coordinates=bool(request.is_normalized),
        read_mode=ReadMode.NORMALIZED_FLOAT if request.read_mode else ReadMode.ELEMENT_TYPE,
    )


def _images(
    request: TextureRequest, levels: tuple[int, ...], memory: DeviceMemory
) -> tuple[Image, ...]:
    order = _ORDERS.get(request.channels)
    type_ = _TYPES.get((request.channel_kind, request.channel_bits))
    if order is None or type_ is None:
        text = f"texels of {request.channels} channels of {request.channel_bits} bits"
        raise CallError(Status.INVALID_VALUE, text)
    texel = request.channels * request.channel_bits // 8
    layers = request.layers or (6 if request.is_cubemap else 0)
    if request.shape == 0:
        kind = ImageKind.IMAGE_1D_BUFFER
        size: tuple[int, ...] = (request.width,)
    else:
        kind = _KINDS[request.shape, bool(layers)]
        spatial = (request.width, request.height, request.depth)[: request.shape]
        size = (*spatial, layers) if layers else spatial
    found = []
    for number, address in enumerate(levels or (request.address,)):
        axes = kind.dimensions
        halved = tuple(max(1, n >> number) for n in size[:axes]) + size[axes:]
        pitch = request.pitch if not levels else halved[0] * texel
        pitch = pitch or halved[0] * texel
        rows = halved[1] if axes > 1 else 1
        slices = (halved[2] if axes > 2 else 1) * (layers or 1)
        needed = pitch * (rows * slices - 1) + halved[0] * texel
        found.append(
            Image(
                memory.view(address, needed), order, type_, kind, halved, pitch if axes > 1 else 0
            )
        )
    return tuple(found)
