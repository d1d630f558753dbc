"""Machine code of AMD's GPUs to the intermediate representation.

All lanes of a wavefront execute every instruction; EXEC is a predicate of each lane that guards
what vector instructions write. Scalar registers hold the same value in all lanes. `kernel` is where
to begin. Imports `ptx_frontend.amdgcn.text`, the writer of instructions and `simcore.isa`.
"""
