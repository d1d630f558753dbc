"""Scalar instructions: on words, masks of lanes, bits, sums, and numbers of RDNA 4.

What they give is the same in all lanes of a wavefront. `plain` has the table of all. Imports the
writer of instructions and the intermediate representation.
"""
