"""Texture and surface instructions of PTX.

`roots` says which module lowers a mnemonic; the reads themselves are written by
`ptx_frontend.images`. Imports `legal` and `lowering`.
"""
