"""All families of opcodes: importing one enters its opcodes in the table."""

from kernelcast.ptx_frontend.sass.lowering.arithmetic import (
    address_sums,
    bit_fields,
    constant_loads,
    extrema,
    integers,
    logic,
    moves,
    predicate_tables,
    predicates,
    products,
    singles,
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

__all__ = [
    "SASS_OPCODES",
    "accesses",
    "address_sums",
    "atomics",
    "barriers",
    "bit_fields",
    "branches",
    "constant_loads",
    "extrema",
    "integers",
    "logic",
    "moves",
    "predicate_tables",
    "predicates",
    "products",
    "reconvergence",
    "singles",
    "special_registers",
    "uniform",
    "warp",
]
