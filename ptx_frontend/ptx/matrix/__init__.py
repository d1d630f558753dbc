"""Matrix instructions of PTX: `wmma`, `mma`, `wgmma`, `tcgen05`, and what moves their fragments.

`roots` says which module lowers a mnemonic. Imports `legal`, `lowering` and `simcore.isa.matrix`.
"""
