"""Where vector instructions find memory: registers, a distance, the scratch and local memory.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 8, 10 and 11.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.amdgcn.lowering.site import Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "SPACES",
    "further",
    "local_place",
    "offset",
    "own_place",
    "place_of",
    "scratch_place",
]

SPACES = {"global": AddressSpace.GLOBAL, "flat": AddressSpace.GENERIC}
"""How instructions begin that take an address of 64 bits, and which it is."""


def offset(site: Site, name: str = "offset") -> int:
    """The distance in bytes that an instruction adds to its address."""
    return int(site.instruction.modifiers.get(name, "0"), 0)


def place_of(site: Site, space: AddressSpace, vector: str, scalar: str) -> Address:
    """The address of an access: a pair of vector registers, or one and a pair of scalar ones.

    Either may point into the arguments of the launch, where narrow ones are read so.
    """
    code = site.code
    if code.is_in_arguments(vector) or (scalar not in ("", "off") and code.is_in_arguments(scalar)):
        space = AddressSpace.PARAM
    if scalar in ("", "off"):
        return Address(space, code.joined(*map(code.word, code.names(vector))), offset(site))
    distance = code.compute("cvt.u64.u32", 64, code.single(vector))
    argument = code.argument_at(scalar)
    if argument is not None:
        return Address(AddressSpace.PARAM, distance, argument + offset(site))
    base = code.joined(*map(code.word, code.names(scalar)))
    return Address(space, code.compute("add.u64", 64, base, distance), offset(site))


def further(address: Address, distance: int) -> Address:
    """An address some bytes on."""
    return Address(address.space, address.base, address.offset + distance)


def own_place(site: Site) -> Address:
    """A register or none, the descriptor of the memory, and a distance from its beginning."""
    code, (descriptor, distance) = site.code, site.operands[-2:]
    if code.names(descriptor)[0] not in code.own_memory or not distance.isdigit():
        raise code.refused("a buffer that is not the memory of the work-item")
    register = site.operands[1]
    place = Immediate(0) if register == "off" else code.single(register)
    base = code.compute("cvt.u64.u32", 64, place)
    return Address(AddressSpace.LOCAL, base, int(distance) + offset(site))


def scratch_place(site: Site, register: str, scalar: str) -> Address:
    """A vector register, a scalar one, both or none of them."""
    code = site.code
    parts = [code.single(text) for text in (register, scalar) if text != "off"]
    total: Operand = parts[0] if parts else Immediate(0)
    if len(parts) > 1:
        total = code.compute("add.u32", 32, *parts)
    base = code.compute("cvt.u64.u32", 64, total)
    return Address(AddressSpace.LOCAL, base, offset(site))


def local_place(site: Site, register: str, distance: int) -> Address:
    """An address of 32 bits, whose sum with the distance wraps around."""
    place = site.code.single(register)
    if distance:
        place = site.code.compute("add.u32", 32, place, Immediate(distance))
    return Address(AddressSpace.SHARED, site.code.compute("cvt.u64.u32", 64, place), 0)
