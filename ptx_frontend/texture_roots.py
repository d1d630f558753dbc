"""Texture and surface instructions by the first part of their names."""

from __future__ import annotations

from kernelcast.ptx_frontend.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.operands import Site

__all__ = ["TEXTURES", "lower_texture_instruction"]

TEXTURES = ("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep")


def lower_texture_instruction(site: Site, builder: BasicBlockBuilder) -> None:
    """One of TEXTURES, or a `mov` of what they take; few files have any."""
    from kernelcast.ptx_frontend.surface_instructions import lower_surface
    from kernelcast.ptx_frontend.texture_instructions import lower_texture
    from kernelcast.ptx_frontend.texture_queries import lower_query

    match site.mnemonic.split(".", 1)[0]:
        case "tex" | "tld4":
            lower_texture(site, builder)
        case "suld" | "sust" | "sured":
            lower_surface(site, builder)
        case _:
            lower_query(site, builder)
