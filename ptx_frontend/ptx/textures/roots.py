"""Texture and surface instructions by the first part of their names."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site

__all__ = ["TEXTURES", "lower_texture_instruction"]

TEXTURES = ("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep")


def lower_texture_instruction(site: Site, builder: BasicBlockBuilder) -> None:
    """One of TEXTURES, or a `mov` of what they take; few files have any."""
    from kernelcast.ptx_frontend.ptx.textures.queries import lower_query
    from kernelcast.ptx_frontend.ptx.textures.reads import lower_texture
    from kernelcast.ptx_frontend.ptx.textures.surfaces import lower_surface

    match site.mnemonic.split(".", 1)[0]:
        case "tex" | "tld4":
            lower_texture(site, builder)
        case "suld" | "sust" | "sured":
            lower_surface(site, builder)
        case _:
            lower_query(site, builder)
