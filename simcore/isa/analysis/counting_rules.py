"""The native counting rules: which source instructions a native compiler folds or merges.

They are the same for every kernel and stated in docs/counting.md:
1. Loads of parameters, address-space conversions and moves count nothing; nor do conversions of
   integers from 64 to 32 bits, nor those from 32 to 64 whose upper half nothing reads, nor
   added instructions whose result nothing reads.
2. Loads of one basic block with the same base register value and the same space merge into one
   of 8 or 16 bytes where their offsets are neighbours, no store, atomic or fence stands between
   and the combined address is provably aligned in every lane. So do stores, if no other access of
   memory stands between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kernelcast.simcore.isa.analysis.alignment import known_alignment
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.upper_halves import (
    is_extension,
    is_truncation,
    registers_read,
    registers_read_in_full,
)
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Instruction,
    Kernel,
    Load,
    Register,
    SpecialRegister,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.opcodes.columns import Expansion
from kernelcast.simcore.isa.types import AddressSpace, Kind

__all__ = ["NativeCounting", "native_counting"]

_WIDEST_ACCESS_BYTES = 16
_MERGED_SPACES = (AddressSpace.SHARED, AddressSpace.GLOBAL)

BaseKey: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NativeCounting:
    """`folded`: pcs that count nothing; `merged_into`: pc -> pc of the access that swallows it."""

    folded: frozenset[int]
    merged_into: dict[int, int]


@dataclass(slots=True)
class _Group:
    """Accesses that may merge: same kind, space, type and base value, nothing between."""

    base_power: int
    accesses: list[Load | Store] = field(default_factory=list)


@once_per_kernel
def native_counting(kernel: Kernel) -> NativeCounting:
    """Which source instructions the native compiler folds away or merges into others."""
    if kernel.machine is not None:  # it is native code itself
        return NativeCounting(frozenset(), dict(kernel.machine.merged))
    if kernel.is_for_debugging:
        return NativeCounting(frozenset(i.pc for i in kernel.instructions if _is_operand(i)), {})
    powers = known_alignment(kernel)
    merged: dict[int, int] = {}
    for block in kernel.blocks:
        for group in _groups(kernel, block, powers):
            for wide in _wide_accesses(group):
                merged.update((access.pc, wide[0].pc) for access in wide)
    full, read = registers_read_in_full(kernel), registers_read(kernel)
    folded = frozenset(
        i.pc
        for i in kernel.instructions
        if _is_folded(i) or _is_half_copied(i, full) or _is_unread(i, read)
    )
    return NativeCounting(folded, merged)


def _is_operand(instruction: Instruction) -> bool:
    """Parameters are operands from the constant bank, and pointers are generic."""
    if isinstance(instruction, Load):
        return instruction.address.space is AddressSpace.PARAM
    return isinstance(instruction, Compute) and instruction.opcode.expansion is Expansion.OPERAND


def _is_folded(instruction: Instruction) -> bool:
    if _is_operand(instruction):
        return True
    if not isinstance(instruction, Compute):
        return False
    # Reading a special register is an instruction of its own (S2R); other moves are renaming.
    is_special = isinstance(instruction.sources[0], SpecialRegister)
    return instruction.opcode.expansion is Expansion.RENAMING and not is_special


def _is_half_copied(instruction: Instruction, full: frozenset[int]) -> bool:
    """A change of width that leaves the one register alone that is needed."""
    if not isinstance(instruction, Compute):
        return False
    if is_truncation(instruction):
        return True
    return is_extension(instruction) and not any(
        register.index in full for register in writes(instruction)
    )


def _is_unread(instruction: Instruction, read: frozenset[int]) -> bool:
    """What the front end added for the case that something reads it, and nothing does."""
    return (
        isinstance(instruction, Compute)
        and instruction.is_added
        and not any(register.index in read for register in writes(instruction))
    )


def _groups(kernel: Kernel, block: BasicBlock, powers: dict[int, int]) -> Iterator[_Group]:
    """Groups in the order in which they are closed by something that stands between."""
    version: dict[int, int] = defaultdict(int)
    loads: dict[BaseKey, _Group] = {}
    stores: dict[BaseKey, _Group] = {}
    for instruction in block.body:
        if isinstance(instruction, (Load, Store)) and _may_merge(instruction):
            key = _key(instruction, version)
            if isinstance(instruction, Store):
                yield from _take(loads)
                yield from _take(stores, keep=key)
            else:
                yield from _take(stores)
            opened = stores if isinstance(instruction, Store) else loads
            group = opened.setdefault(key, _Group(_base_power(kernel, instruction, powers)))
            group.accesses.append(instruction)
        elif not isinstance(instruction, Compute) and not _is_folded(instruction):
            yield from _take(stores)
            if not isinstance(instruction, Load):
                yield from _take(loads)
        for register in writes(instruction):
            version[register.index] += 1
    yield from _take(loads)
    yield from _take(stores)


def _take(groups: dict[BaseKey, _Group], keep: BaseKey | None = None) -> Iterable[_Group]:
    closed = [group for key, group in groups.items() if key != keep]
    kept = {key: group for key, group in groups.items() if key == keep}
    groups.clear()
    groups.update(kept)
    return closed


def _may_merge(access: Load | Store) -> bool:
    return (
        access.address.space in _MERGED_SPACES
        and access.guard is None
        and not access.volatile
        and access.type.kind is not Kind.PREDICATE
    )


def _key(access: Load | Store, version: dict[int, int]) -> BaseKey:
    base = access.address.base
    if isinstance(base, Register):
        value: object = (base.index, version[base.index])
    else:
        value = base.symbol if isinstance(base, SymbolAddress) else None
    return (access.address.space, access.cache, access.type.bits, value)


def _offset(access: Load | Store) -> int:
    base = access.address.base
    return access.address.offset + (base.offset if isinstance(base, SymbolAddress) else 0)


def _width(access: Load | Store) -> int:
    parts = access.destinations if isinstance(access, Load) else access.sources
    return access.type.bytes * len(parts)


def _base_power(kernel: Kernel, access: Load | Store, powers: dict[int, int]) -> int:
    base = access.address.base
    if isinstance(base, Register):
        return powers[base.index]
    if isinstance(base, SymbolAddress):
        symbol = kernel.symbols[base.symbol]
        first = symbol.offset if symbol.space is AddressSpace.SHARED else symbol.align
        return (first & -first).bit_length() - 1 if first else 64
    return 0


def _wide_accesses(group: _Group) -> Iterator[Sequence[Load | Store]]:
    """The sets of accesses that become one access of 8 or 16 bytes."""
    by_offset = {_offset(access): access for access in group.accesses}
    waiting = sorted(by_offset)
    taken: set[int] = set()
    for wide in (_WIDEST_ACCESS_BYTES, _WIDEST_ACCESS_BYTES // 2):
        if (1 << group.base_power) < wide:
            continue
        for first in waiting:
            if first in taken or first % wide:
                continue
            members = _run(by_offset, taken, first, wide)
            if len(members) > 1:
                taken.update(_offset(access) for access in members)
                yield sorted(members, key=lambda access: access.pc)


def _run(
    by_offset: dict[int, Load | Store], taken: set[int], first: int, wide: int
) -> list[Load | Store]:
    """Accesses that fill [first, first + wide) exactly; empty when there is a hole."""
    members: list[Load | Store] = []
    position = first
    while position < first + wide:
        access = by_offset.get(position)
        if access is None or position in taken or position + _width(access) > first + wide:
            return []
        members.append(access)
        position += _width(access)
    return members
