"""Shapes of textures and surfaces, and what accesses outside of a surface do."""

from __future__ import annotations

from enum import Enum

from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.launch.image_descriptors import ShapeBits

__all__ = ["Boundary", "Geometry"]


class Geometry(Enum):
    """PTX's name, the kind of image, whether a layer is given, and what a cube's faces are."""

    D1 = ("1d", ImageKind.IMAGE_1D, False, False)
    D2 = ("2d", ImageKind.IMAGE_2D, False, False)
    D3 = ("3d", ImageKind.IMAGE_3D, False, False)
    A1D = ("a1d", ImageKind.IMAGE_1D_ARRAY, True, False)
    A2D = ("a2d", ImageKind.IMAGE_2D_ARRAY, True, False)
    CUBE = ("cube", ImageKind.IMAGE_2D_ARRAY, False, True)
    ACUBE = ("acube", ImageKind.IMAGE_2D_ARRAY, True, True)

    def __init__(self, title: str, kind: ImageKind, has_layer: bool, is_cube: bool) -> None:
        self.title = title
        self.kind = kind
        self.has_layer = has_layer
        self.is_cube = is_cube

    @property
    def numbers(self) -> int:
        """The number of coordinates besides the layer."""
        return 3 if self.is_cube else self.kind.dimensions

    @property
    def shape(self) -> int:
        """What the descriptor of a texture of that geometry says of its shape."""
        return self.kind.dimensions | (ShapeBits.LAYERS if self.kind.is_array else 0)


class Boundary(Enum):
    """What an access outside of the surface does."""

    TRAP = "trap"
    CLAMP = "clamp"
    ZERO = "zero"
