"""Matrix instructions: element formats, products of matrices, and how lanes hold fragments of them.

The product of two matrices with an accumulator (`products`) knows nothing of lanes, and the layout
of a fragment (`layouts`, `contiguous`) nothing of arithmetic; `operations` joins them to an
operation across the lanes of a warp. Imports `opcodes`, `numerics` and the
scalar types of `isa`.
"""
