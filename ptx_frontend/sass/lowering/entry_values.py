"""Values that are the same for the whole launch: they are read once, where the kernel begins."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.instruction_writer import Counted, InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.lowering.constants import (
    ADDRESSES_BANK,
    BANK_SYMBOLS,
    USER_BANK,
    GridWord,
    HalfOf,
    Reciprocal,
    bank_of,
    driver_words,
    literal,
)
from kernelcast.simcore.isa.ir.kernel import (
    GRID,
    Address,
    Compute,
    Immediate,
    Load,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["EntryValues"]

_WORD, _LONG = 4, 8
_GRID_BYTES = 256
_UNKNOWN_STACK = 0xFFFFFFFF
"""What some assemblers say where functions call themselves or are called through registers."""
_RECURSION_BYTES = 16 << 10
"""The stack of each thread then, as for PTX."""


class EntryValues(InstructionWriter):
    """Constants of the launch in registers of their own, made when they are first asked for."""

    def __init__(
        self,
        builder: BasicBlockBuilder,
        cubin: Cubin,
        function: CubinFunction,
        base: int,
        objects: Mapping[int, int],
        has_unknown_stack: bool = False,
    ) -> None:
        self.builder = builder
        self._cubin = cubin
        self._function = function
        self._has_unknown_stack = has_unknown_stack
        self.base = base
        """Where parameters begin in bank 0."""
        self._objects = objects
        """Places in bank 0 of the numbers of declared objects, and of these as parameters."""
        self._driver = driver_words(cubin.architecture, function.shared_bytes)
        self._known: dict[object, Operand | None] = {}
        self._written: list[Load | Compute] = []
        self.symbols: set[str] = set()
        """Symbols whose addresses are used."""
        self.own_symbols: dict[str, Symbol] = {}
        """Variables that the cubin does not have, by name."""

    @property
    def span(self) -> SourceSpan:
        """The place of the kernel."""
        return self.builder.start

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """All of it is part of what reads the values."""
        return Counted(
            pc=self.builder.added_pc(),
            mnemonic=mnemonic,
            span=self.span,
            origin=None,
            is_added=False,
            is_part=True,
        )

    def constant(self, bank: int, offset: int, size: int) -> Operand | None:
        """What `c[bank][offset]` holds, 4 or 8 bytes; None where that is not known."""
        key = (bank, offset, size)
        if key not in self._known:
            self._known[key] = self._constant(bank, offset, size)
        return self._known[key]

    def is_parameter(self, bank: int, offset: int) -> bool:
        """Whether a parameter stands at a place of a bank."""
        place = offset - self.base
        return bank == 0 and 0 <= place < self._function.info.parameter_bytes

    def is_of_driver(self, offset: int) -> bool:
        """Whether the driver puts a word that is known at a place of bank 0."""
        return offset in self._driver

    def special(self, which: SpecialRegister, bits: int = 32) -> Register:
        """A special register that does not change while the kernel runs."""
        found = self._known.get(which)
        if found is None:
            found = self._known[which] = self._kept(f"mov.u{bits}", bits, which)
        assert isinstance(found, Register)
        return found

    def finish(self) -> None:
        """Puts all that was asked for in front of the kernel."""
        for instruction in reversed(self._written):
            self.builder.begin_with(instruction)

    def _kept(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        register = self.register(bits)
        self._written.append(self.computed(mnemonic, (register,), *sources))
        return register

    def _constant(self, bank: int, offset: int, size: int) -> Operand | None:
        if bank == 0 and size == _WORD and offset in self._objects:
            return self._parameter_of(ScalarType.B32, self._objects[offset])
        if bank == 0:
            return self._parameter(offset, size) or self._driver_value(offset, size)
        found = literal(self._cubin, self._function, bank, offset, size)
        if bank == USER_BANK and found is not None:
            return self._variable(offset, size)
        if isinstance(found, SymbolAddress):
            self.symbols.add(found.symbol)
            return self._kept("mov.u64", 64, found)
        return found if found is not None else self._half_of_address(bank, offset, size)

    def _variable(self, offset: int, size: int) -> Operand | None:
        """What a variable in constant memory holds, which others may have written since."""
        if offset % size:
            return self._joined(USER_BANK, offset)
        self.symbols.add(BANK_SYMBOLS[USER_BANK])
        address = Address(AddressSpace.CONST, SymbolAddress(BANK_SYMBOLS[USER_BANK]), offset)
        return self._loaded(ScalarType.B32 if size == _WORD else ScalarType.B64, address)

    def _half_of_address(self, bank: int, offset: int, size: int) -> Operand | None:
        if size != 4:
            return None
        whole = self.constant(bank, offset - offset % _LONG, _LONG)
        if not isinstance(whole, Register):
            return None
        low, high = self.register(32), self.register(32)
        self._written.append(self.computed("mov.b64", (low, high), whole, shape="unpack2"))
        return high if offset % _LONG else low

    def _parameter(self, offset: int, size: int) -> Operand | None:
        place = offset - self.base
        there = self._function.info.parameter_bytes - place
        if place < 0 or there <= 0:
            return None
        if place % size or (size == _LONG and there < size):
            return self._joined(0, offset)
        if there < size:
            return self._last_parameter(place, there)
        return self._parameter_of(ScalarType.B32 if size == _WORD else ScalarType.B64, place)

    def _last_parameter(self, place: int, there: int) -> Operand:
        """A word of which only some bytes, fewer than four, belong to a parameter."""
        if there == 1:
            return self._parameter_of(ScalarType.U8, place)
        low = self._parameter_of(ScalarType.U16, place)
        if there == 2:
            return low
        upper = self._parameter_of(ScalarType.U8, place + 2)
        return self._kept("prmt.b32", 32, low, upper, Immediate(0x5410))

    def _parameter_of(self, type_: ScalarType, place: int) -> Register:
        return self._loaded(type_, Address(AddressSpace.PARAM, None, place))

    def _loaded(self, type_: ScalarType, address: Address) -> Register:
        register = self.register(max(type_.bits, 8 * _WORD))
        fields = self.fields(f"ld.{address.space.value}.{type_.ptx_name}")
        self._written.append(Load(**fields, type=type_, address=address, destinations=(register,)))
        return register

    def _driver_value(self, offset: int, size: int) -> Operand | None:
        if size == _LONG:
            return self._joined(0, offset)
        if offset not in self._driver:
            return None
        word = self._driver[offset]
        if word is None:
            return Immediate(self.stack_top)
        if isinstance(word, SpecialRegister):
            return self.special(word)
        if isinstance(word, HalfOf):
            return self._half(word)
        if isinstance(word, Reciprocal):
            number = self._kept("cvt.rn.f32.u32", 32, self.special(SpecialRegister(word.which)))
            return self._kept("rcp.rp.f32", 32, number)
        return self._grid_word(word) if isinstance(word, GridWord) else word

    def _grid_word(self, word: GridWord) -> Register:
        """Half of the address of the workspace of a grid."""
        self.own_symbols[GRID] = Symbol(GRID, AddressSpace.GLOBAL, _GRID_BYTES, _GRID_BYTES, 0)
        whole = self._kept("mov.u64", 64, SymbolAddress(GRID))
        low, high = self.register(32), self.register(32)
        self._written.append(self.computed("mov.b64", (low, high), whole, shape="unpack2"))
        return high if word.is_upper else low

    def _half(self, word: HalfOf) -> Register:
        whole = self.special(SpecialRegister(word.which), 64)
        low, high = self.register(32), self.register(32)
        self._written.append(self.computed("mov.b64", (low, high), whole, shape="unpack2"))
        return high if word.is_upper else low

    @property
    def called_symbols(self) -> tuple[str, ...]:
        """The symbols whose addresses bank 4 holds, in the order of their places."""
        _, symbols = bank_of(self._cubin, self._function, ADDRESSES_BANK)
        return tuple(symbols[place][0] for place in sorted(symbols))

    @property
    def required_threads(self) -> tuple[int, int, int] | None:
        """The size of the thread block, where the kernel says it."""
        return self._function.info.required_threads

    @property
    def stack_top(self) -> int:
        """Where the stack begins, which grows down: bytes of local memory."""
        known = self._function.stack_bytes
        if self._has_unknown_stack or known == _UNKNOWN_STACK:
            known = _RECURSION_BYTES
        return max(known, self._function.frame_bytes)

    def _joined(self, bank: int, offset: int) -> Operand | None:
        low, high = self.constant(bank, offset, _WORD), self.constant(bank, offset + _WORD, _WORD)
        if high is None and self.is_parameter(bank, offset):
            high = Immediate(0)  # behind the last parameter
        if low is None or high is None:
            return None
        if isinstance(low, Immediate) and isinstance(high, Immediate):
            return Immediate(high.bits << 32 | low.bits)
        register = self.register(64)
        self._written.append(self.computed("mov.b64", (register,), low, high, shape="pack2"))
        return register
