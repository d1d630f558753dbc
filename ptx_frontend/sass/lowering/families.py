"""All families of opcodes: importing one enters its opcodes in the table."""

from kernelcast.ptx_frontend.sass.lowering.arithmetic import (
    conversions,
    doubles,
    float_comparisons,
    float_extrema,
    halves,
    integers,
    legacy,
    logic,
    moves,
    packing,
    predicates,
    singles,
    special_functions,
    uniform,
)
from kernelcast.ptx_frontend.sass.lowering.control_flow import (
    barriers,
    branches,
    clusters,
    host_calls,
    indirect,
    warp,
)
from kernelcast.ptx_frontend.sass.lowering.memory_access import (
    accesses,
    asynchronous,
    atomics,
    mbarriers,
    tensor_copies,
    textures,
)
from kernelcast.ptx_frontend.sass.lowering.table import SASS_OPCODES
from kernelcast.ptx_frontend.sass.lowering.tensor import matrix, tensor_memory, warpgroups

__all__ = [
    "SASS_OPCODES",
    "accesses",
    "asynchronous",
    "atomics",
    "barriers",
    "branches",
    "clusters",
    "conversions",
    "doubles",
    "float_comparisons",
    "float_extrema",
    "halves",
    "host_calls",
    "indirect",
    "integers",
    "legacy",
    "logic",
    "matrix",
    "mbarriers",
    "moves",
    "packing",
    "predicates",
    "singles",
    "special_functions",
    "tensor_copies",
    "tensor_memory",
    "textures",
    "uniform",
    "warp",
    "warpgroups",
]
