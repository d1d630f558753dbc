"""Clusters: addresses of other thread blocks, their barrier, stores that tell an mbarrier.

Reductions that tell one, too; and instructions that ask hardware for something that changes no
value. PTX ISA 9.0: mapa, getctarank, barrier.cluster, st.async, red.async, multimem, setmaxnreg.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelcast.ptx_frontend.ptx.asynchronous.mbarriers import complete_transactions
from kernelcast.ptx_frontend.ptx.legal.atomics import illegal_multimem
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.memory import (
    lower_atomic,
    lower_load,
    lower_store,
    lower_vector_atomic,
    understood,
)
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, RANK_MASK
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierSync,
    ClusterArrive,
    Immediate,
    Load,
    Operand,
    Register,
    Special,
    SpecialRegister,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_cluster"]

_ARRIVALS = ("arrive", "arrive.release", "arrive.relaxed")
_WAITS = ("wait", "wait.acquire")
_SET_REGISTERS = ("setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32")
_REGISTERS = range(24, 257, 8)
_COMPLETION = "mbarrier::complete_tx::bytes"
_MULTIMEM = {"ld_reduce": "ld", "st": "st", "red": "red"}
_OPERATIONS = ("add", "min", "max", "and", "or", "xor")


def lower_cluster(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers an instruction of clusters, `multimem` or `setmaxnreg` by its name."""
    code = InstructionParts.guarded(site, builder)
    match site.mnemonic.split(".", 2)[:2]:
        case ["mapa", *_]:
            _map_address(code)
        case ["getctarank", *_]:
            _rank(code)
        case ["isspacep", _]:
            _is_own(code)
        case ["barrier", _]:
            _barrier(site, builder)
        case ["st" | "red", _]:
            _tell(code)
        case ["multimem", _]:
            _on_all_devices(site, builder)
        case ["setmaxnreg", _]:
            _set_registers(code)
        case _:
            _policy(code)


def _set_registers(code: InstructionParts) -> None:
    """`setmaxnreg count`: changes no value."""
    site = code.site
    if site.mnemonic not in _SET_REGISTERS:
        raise site.refused()
    site.expect_operands(1)
    count = site.source(site.operands[0], 0, ScalarType.U32)
    if not isinstance(count, Immediate) or count.bits not in _REGISTERS:
        raise site.error(f"{site.mnemonic!r} takes a multiple of 8 from 24 to 256", 0)
    code.fence()


def _type(site: Site) -> ScalarType:
    """The type of an address."""
    _, *space, name = site.mnemonic.split(".")
    type_ = {"u32": ScalarType.U32, "u64": ScalarType.U64}.get(name)
    if type_ is None or space not in ([], ["shared::cluster"]):
        raise site.refused()
    return type_


def _map_address(code: InstructionParts) -> None:
    """`mapa d, address, rank`."""
    site, type_ = code.site, _type(code.site)
    site.expect_operands(3)
    destination = site.destination(site.operands[0], 0, type_)
    address = site.source(site.operands[1], 1, type_)
    rank = site.source(site.operands[2], 2, ScalarType.U32)
    bits = type_.bits
    keep = Immediate(((1 << bits) - 1) & ~(RANK_MASK << OFFSET_BITS))
    offset = code.compute(f"and.b{bits}", bits, address, keep)
    above = code.compute("add.u32", 32, rank, Immediate(1))
    named: Operand = code.compute("shl.b32", 32, above, Immediate(OFFSET_BITS))
    if bits == 64:
        named = code.compute("cvt.u64.u32", 64, named)
    if destination is not None:
        code.assign(f"or.b{bits}", destination, offset, named, is_main=True)


def _rank(code: InstructionParts) -> None:
    """`getctarank d, address`: the thread's own where the address names none."""
    site = code.site
    site.expect_operands(2)
    type_ = _type(site)
    destination = site.destination(site.operands[0], 0, ScalarType.U32)
    above = _named_rank(code, site.source(site.operands[1], 1, type_), type_.bits)
    is_own = code.compute("setp.eq.u32", 1, above, Immediate(0))
    named = code.compute("sub.u32", 32, above, Immediate(1))
    own = code.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_CTARANK))
    if destination is not None:
        code.assign("selp.b32", destination, own, named, is_own, is_main=True)


def _named_rank(code: InstructionParts, address: Operand, bits: int) -> Register:
    """The rank that an address names, plus one; 0 for none."""
    above = code.compute(f"shr.u{bits}", bits, address, Immediate(OFFSET_BITS))
    if bits == 64:
        above = code.compute("cvt.u32.u64", 32, above)
    return code.compute("and.b32", 32, above, Immediate(RANK_MASK))


def _is_own(code: InstructionParts) -> None:
    """`isspacep.shared::cta p, address`: in shared memory, and of no other thread block."""
    site = code.site
    site.expect_operands(2)
    destination = site.destination(site.operands[0], 0, ScalarType.PRED)
    address = site.source(site.operands[1], 1, ScalarType.U64)
    is_shared = code.compute("isspacep.shared", 1, address)
    named = _named_rank(code, address, 64)
    own = code.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_CTARANK))
    own = code.compute("add.u32", 32, own, Immediate(1))
    none = code.compute("setp.eq.u32", 1, named, Immediate(0))
    is_own = code.compute("or.pred", 1, none, code.compute("setp.eq.u32", 1, named, own))
    if destination is not None:
        code.assign("and.pred", destination, is_shared, is_own, is_main=True)


def _barrier(site: Site, builder: BasicBlockBuilder) -> None:
    """`barrier.cluster.arrive` counts and goes on, `barrier.cluster.wait` waits."""
    site.expect_operands(0)
    half = site.mnemonic.removesuffix(".aligned").removeprefix("barrier.cluster.")
    if half not in (*_ARRIVALS, *_WAITS):
        raise site.refused()
    if half in _ARRIVALS:
        builder.append(
            ClusterArrive(
                **site.fields(),
            )
        )
        return
    following = builder.new()
    go_round(site, builder, following)
    builder.end_and_continue(
        BarrierSync(
            **site.place(),
            barrier=-1,
            target=following,
            is_cluster=True,
        ),
        following,
    )


def _plainly(site: Site, mnemonic: str, operands: int | None = None) -> Site:
    """The statement as that of another instruction, with its first operands."""
    chosen = site.operands[:operands]
    statement = site.statement._replace(mnemonic=mnemonic, operands=chosen)
    return replace(site, statement=statement)


def _tell(code: InstructionParts) -> None:
    """Lowers `st.async` and `red.async`, which are done at once.

    Then the bytes have come to the mbarrier if there is one, which global memory does not have.
    """
    site = code.site
    root, *parts = site.mnemonic.split(".")
    has_mbarrier = _COMPLETION in parts
    site.expect_operands(2 + has_mbarrier)
    kept = [part for part in parts if part not in ("async", "mmio", _COMPLETION)]
    plain = _plainly(site, ".".join((root, *kept)), 2)
    access = understood(plain)
    instruction = lower_store(plain) if root == "st" else lower_atomic(plain)
    code.builder.append(replace(instruction, mnemonic=site.mnemonic))
    if not has_mbarrier:
        return
    size = access.type.bytes * max(1, access.vector)
    barrier = site.address(2, AddressSpace.SHARED, ScalarType.B64.bytes)
    complete_transactions(code, barrier, size)


def _on_all_devices(site: Site, builder: BasicBlockBuilder) -> None:
    """`multimem`: of one device, an access like any other."""
    _, kind, *parts = site.mnemonic.split(".")
    if kind not in _MULTIMEM:
        raise site.refused()
    operations = _OPERATIONS if kind == "ld_reduce" else ()
    kept = [part for part in parts if part not in operations and not part.startswith("acc::")]
    plain = _plainly(site, ".".join((_MULTIMEM[kind], *kept)))
    access = understood(plain)
    operation = access.operation or next((part for part in parts if part in operations), "")
    reason = illegal_multimem(kind, kept, access.space, operation, access.type, access.vector)
    if reason:
        raise site.refused(reason)
    instructions: Sequence[Load | Store | Atomic]
    match kind:
        case "ld_reduce":
            instructions = [lower_load(plain, access)]
        case "st":
            instructions = [lower_store(plain, access)]
        case _ if access.vector:
            instructions = lower_vector_atomic(plain, access)
        case _:
            instructions = [lower_atomic(plain, access)]
    builder.append(replace(instructions[0], mnemonic=site.mnemonic))
    for part in instructions[1:]:
        builder.append(replace(part, mnemonic=site.mnemonic, pc=builder.added_pc(), is_added=True))


def _policy(code: InstructionParts) -> None:
    """`createpolicy`: caches here take no notice of what it makes."""
    site = code.site
    if not site.operands or isinstance(site.operands[0], syntax.AddressOperand):
        raise site.refused()
    destination = site.destination(site.operands[0], 0, ScalarType.B64)
    if destination is not None:
        code.assign("mov.b64", destination, Immediate(0), is_main=True)
