"""All families of opcodes: importing one enters its opcodes in the table."""

from kernelcast.ptx_frontend.sass.lowering.arithmetic import (
    address_sums,
    bit_fields,
    constant_loads,
    conversions,
    doubles,
    extrema,
    float_comparisons,
    float_extrema,
    halves,
    integers,
    logic,
    moves,
    packing,
    predicate_tables,
    predicates,
    products,
    singles,
    special_functions,
    special_registers,
    uniform,
)
from kernelcast.ptx_frontend.sass.lowering.control_flow import (
    barriers,
    branches,
    reconvergence,
    warp,
)
from kernelcast.ptx_frontend.sass.lowering.memory_access import (
    accesses,
    atomics,
)
from kernelcast.ptx_frontend.sass.lowering.table import SASS_OPCODES
from kernelcast.ptx_frontend.sass.lowering.tensor import (
    fragments,
    matrix,
)

__all__ = [
    "SASS_OPCODES",
    "accesses",
    "address_sums",
    "atomics",
    "barriers",
    "bit_fields",
    "branches",
    "constant_loads",
    "conversions",
    "doubles",
    "extrema",
    "float_comparisons",
    "float_extrema",
    "fragments",
    "halves",
    "integers",
    "logic",
    "matrix",
    "moves",
    "packing",
    "predicate_tables",
    "predicates",
    "products",
    "reconvergence",
    "singles",
    "special_functions",
    "special_registers",
    "uniform",
    "warp",
]
