"""`mov` from special registers that are parts of others, or that say nothing outside of hardware.

PTX ISA 9.0, "Special Registers".
"""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.grid_workspace import (
    is_grid_workspace,
    lower_grid_workspace,
)
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import scalar_type
from kernelcast.simcore.isa.ir.kernel import Immediate, Register, Special, SpecialRegister

__all__ = ["is_special_move", "lower_special_move"]

_HALVES = {
    "%clock_hi": (Special.CLOCK64, 32),
    "%globaltimer_lo": (Special.GLOBALTIMER, 0),
    "%globaltimer_hi": (Special.GLOBALTIMER, 32),
}
"""Special register of 64 bits and how far above its lowest bit the half begins."""
_AGGREGATE = "%aggr_smem_size"
"""All shared memory of a thread block: none is reserved for the system here."""
_IN_CLUSTER = "%is_explicit_cluster"
_ZEROS = re.compile(
    r"%(n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)\.w"
    r"|%envreg([12]?\d|3[01])|%pm[0-7](_64)?"
    r"|%reserved_smem_offset_(begin|end|cap|[01])|%current_graph_exec"
)
"""Fourth elements, what a driver may set, counters that nobody has started, the bounds of the
shared memory that the system keeps, the graph of a kernel that is in none."""
_WIDE = re.compile(r"%pm\d_64|%current_graph_exec")


def is_special_move(site: Site) -> bool:
    """Whether a `mov` reads such a register, or those of the workspace of a grid."""
    return len(site.operands) == 2 and (bool(_read(site)) or is_grid_workspace(site))


def lower_special_move(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers a move of a special register; PtxSyntaxError where the widths differ."""
    if is_grid_workspace(site):
        lower_grid_workspace(site, builder)
        return
    code, name = InstructionParts.guarded(site, builder), _read(site)
    bits = 64 if _WIDE.fullmatch(name) else 1 if name == _IN_CLUSTER else 32
    type_ = scalar_type(site.mnemonic.removeprefix("mov."))
    if type_ is None or type_.bits != bits:
        width = "a predicate" if bits == 1 else f"{bits} bits wide"
        raise site.error(f"{name!r} is {width}, {site.mnemonic!r} is not", 1)
    destination = site.destination(site.operands[0], 0, type_)
    if destination is not None:
        _move(code, name, destination)


def _move(code: InstructionParts, name: str, destination: Register) -> None:
    if name == _IN_CLUSTER:
        size = code.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_NCTARANK))
        code.assign("setp.ne.u32", destination, size, Immediate(1), is_main=True)
    elif name == _AGGREGATE:
        code.assign("mov.u32", destination, SpecialRegister(Special.TOTAL_SMEM_SIZE), is_main=True)
    elif (half := _HALVES.get(name)) is not None:
        whole, shift = half
        value = code.compute("mov.u64", 64, SpecialRegister(whole))
        if shift:
            value = code.compute("shr.u64", 64, value, Immediate(shift))
        code.assign("cvt.u32.u64", destination, value, is_main=True)
    else:
        code.assign(f"mov.b{destination.bits}", destination, Immediate(0), is_main=True)


def _read(site: Site) -> str:
    """The name of the register; empty when `mov` reads something else."""
    operand = site.operands[1]
    if not isinstance(operand, syntax.NameOperand) or not operand.name.startswith("%"):
        return ""
    name = operand.name
    is_known = name in _HALVES or name in (_AGGREGATE, _IN_CLUSTER) or _ZEROS.fullmatch(name)
    return name if is_known and site.names.scope.register(name) is None else ""
