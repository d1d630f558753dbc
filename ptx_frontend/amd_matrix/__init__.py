"""Products of matrices that the matrix cores of AMD's CDNA make, for every front end.

`shape` says which elements lie in which lane of a wavefront, `product` writes the instructions.
Begin at `product`, which AMD's machine code and LLVM IR both become. Imports `simcore.isa`.
"""
