"""Atomics on global, flat and local memory, of 32 and 64 bits, integers and numbers.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 12.13, 12.16 and 12.17; RDNA 3
Instruction Set Architecture, chapter 16.15: there the compared value comes last. Numbers that are
denormal count as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.memory.addresses import (
    SPACES,
    local_place,
    offset,
    place_of,
)
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["ATOMICS"]

_COMPARED = "cas"
_GLOBAL = {
    **{name: (name, "u") for name in ("add", "sub", "inc", "dec")},
    **{f"{sign}{name}": (name, sign) for name in ("min", "max") for sign in ("u", "s")},
    **{name: (name, "b") for name in ("and", "or", "xor")},
    "swap": ("exch", "b"),
    "cmpswap": (_COMPARED, "b"),
}
"""What is done, and the kind of the numbers, by name."""
_LOCAL = {
    **{f"{name}_u": (name, "u") for name in ("add", "sub", "inc", "dec", "min", "max")},
    **{f"{name}_i": (name, "s") for name in ("min", "max")},
    **{f"{name}_b": (name, "b") for name in ("and", "or", "xor")},
}
_NUMBERS = {
    "add_f32": ("add", ScalarType.F32),
    "add_f64": ("add", ScalarType.F64),
    "pk_add_f16": ("add", ScalarType.F16X2),
    "pk_add_bf16": ("add", ScalarType.BF16X2),
    **{f"{name}_f32": (name, ScalarType.F32) for name in ("min", "max")},
    **{f"{name}_f64": (name, ScalarType.F64) for name in ("min", "max")},
}
_OLDER_NUMBERS = {
    f"f{name}{suffix}": (name, type_)
    for name in ("min", "max")
    for suffix, type_ in (("", ScalarType.F32), ("_x2", ScalarType.F64))
}
"""What RDNA 2 calls them, of global and flat memory."""
_EXCHANGES = ("wrxchg", "storexchg")


def _parts(site: Site, operand: str, bits: int) -> list[Operand]:
    """The numbers that an operand holds, one or two."""
    words = site.code.source(operand)
    if bits == 32:
        return words
    pairs = zip(words[::2], words[1::2], strict=True)
    return [site.code.joined(low, high) for low, high in pairs]


def _update(
    site: Site, how: tuple[str, ScalarType], address: Address, values: list[Operand], returns: bool
) -> None:
    """One atomic; the old value goes into the first operand where it comes back."""
    code, (operation, type_) = site.code, how
    if operation == "sub":
        operation = "add"
        zero, bits = Immediate(0), type_.bits
        values = [code.compute(f"sub.u{bits}", bits, zero, value) for value in values]
    old = code.register(type_.bits) if returns else None
    code.atomic(operation, type_, address, *values, destination=old, is_main=True)
    if old is not None:
        words = [old] if type_.bits == 32 else code.halves(old)
        code.set_vector(site.operands[0], *words)


def _atomic(space: AddressSpace, how: tuple[str, ScalarType], site: Site) -> None:
    """An atomic; where a modifier says so the old value comes back, into the first operand."""
    operation, type_ = how
    returns = site.instruction.returns_old
    operands = site.operands[1:] if returns else site.operands
    address = place_of(site, space, operands[0], operands[2] if len(operands) > 2 else "")
    values = _parts(site, operands[1], type_.bits)
    if operation == _COMPARED:  # the new value, then the one that is compared with
        values = [values[1], values[0]]
    _update(site, how, address, values, returns)


def _local_atomic(how: tuple[str, ScalarType], is_returned: bool, site: Site) -> None:
    operation, type_ = how
    operands = site.operands[1:] if is_returned else site.operands
    address = local_place(site, operands[0], offset(site))
    values = [value for text in operands[1:] for value in _parts(site, text, type_.bits)]
    if operation == _COMPARED and site.opcode.startswith("ds_cmpstore"):
        values = [values[1], values[0]]
    _update(site, how, address, values, is_returned)


def _local_operations() -> dict[str, tuple[str, ScalarType]]:
    """What local memory does that need not return what was there, by the end of the name."""
    found = dict(_NUMBERS)
    for bits in (32, 64):
        for name, (operation, kind) in _LOCAL.items():
            found[f"{name}{bits}"] = operation, ScalarType.named(f"{kind}{bits}")
        for name in ("cmpst", "cmpstore"):
            found[f"{name}_b{bits}"] = _COMPARED, ScalarType.named(f"b{bits}")
    return found


def _local_table() -> dict[str, Lowering]:
    found: dict[str, Lowering] = {}
    for name, how in _local_operations().items():
        operation, _, type_name = name.rpartition("_")
        found[f"ds_{name}"] = partial(_local_atomic, how, False)
        found[f"ds_{operation}_rtn_{type_name}"] = partial(_local_atomic, how, True)
    for bits in (32, 64):
        exchange = "exch", ScalarType.named(f"b{bits}")
        for name in _EXCHANGES:
            found[f"ds_{name}_rtn_b{bits}"] = partial(_local_atomic, exchange, True)
    return found


def _global_operations() -> dict[str, tuple[str, ScalarType]]:
    found = _NUMBERS | _OLDER_NUMBERS
    for name, (operation, kind) in _GLOBAL.items():
        for suffix, bits in (("", 32), ("_x2", 64)):
            found[name + suffix] = operation, ScalarType.named(f"{kind}{bits}")
    return found


ATOMICS: Mapping[str, Lowering] = {
    **{
        f"{kind}_atomic_{name}": partial(_atomic, space, how)
        for kind, space in SPACES.items()
        for name, how in _global_operations().items()
    },
    **_local_table(),
}
