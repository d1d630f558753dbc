"""What a lowering function works with: one statement, its operands, and where to write.

A lowering function reads all operands first, computes in temporary registers (`compute`), and
writes destinations last: `main` is the instruction that counts, `part` what hardware does with it.
Every modifier must be taken (`take`, `choose`, `ignore`); a statement with one left is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.instruction_writer import Counted, Fields, InstructionWriter
from kernelcast.ptx_frontend.sass.lowering.context import FunctionContext
from kernelcast.ptx_frontend.sass.lowering.registers import PREDICATE_FILES
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.ptx_frontend.sass.text.statements import Statement
from kernelcast.simcore.isa.ir.kernel import Guard, Immediate, Operand, Register

__all__ = ["Site"]

Choice = TypeVar("Choice")
_WORD = 0xFFFFFFFF
_TRUE, _FALSE = Immediate(1), Immediate(0)


class Site(InstructionWriter):
    """One statement in one place of a kernel."""

    def __init__(
        self,
        context: FunctionContext,
        statement: Statement,
        span: SourceSpan,
        origin: SourceSpan | None,
    ) -> None:
        self.context = context
        self.builder = context.builder
        self.registers = context.registers
        self.architecture = context.architecture
        self.statement = statement
        self.operands: list[SassOperand] = list(statement.operands)
        self.span = span
        self.origin = origin
        self.guard: Guard | None = None
        self.reads: dict[int, None] = {}
        self.writes: dict[int, None] = {}
        self._left = list(statement.modifiers)
        self._is_counted = False
        self._pairs: list[tuple[Register, Register, Register]] = []
        """Pairs that were written, with their halves."""
        self._owned: set[int] = set()
        """Indices of registers of SASS that this statement writes."""
        self.guard = self._guard()

    # modifiers

    def take(self, *names: str) -> bool:
        """Whether the statement has one of these modifiers, which then counts as understood."""
        found = [name for name in self._left if name in names]
        self._left = [name for name in self._left if name not in names]
        return bool(found)

    def choose(self, choices: Mapping[str, Choice], usual: Choice) -> Choice:
        """The choice that the first of these modifiers makes, or the usual one."""
        for name in self._left:
            if name in choices:
                self._left.remove(name)
                return choices[name]
        return usual

    def ignore(self, *names: str) -> None:
        """Modifiers that change nothing that is computed."""
        self.take(*names)

    def rest(self) -> tuple[str, ...]:
        """All modifiers that are left, which then count as understood."""
        found, self._left = tuple(self._left), []
        return found

    def refuse(self, why: str = "") -> UnsupportedInstruction:
        """The error for a form that is not known."""
        name = self.statement.mnemonic
        reason = f"SASS instruction {name!r} is not supported" + (why and f": {why}")
        return UnsupportedInstruction(reason, self.span)

    # operands

    def operand(self, position: int) -> SassOperand:
        """An operand; UnsupportedInstruction when the statement has fewer."""
        if position >= len(self.operands):
            raise self.refuse(f"it has {len(self.operands)} operands")
        return self.operands[position]

    def is_predicate(self, position: int) -> bool:
        """Whether the operand at that position is a predicate."""
        if position >= len(self.operands):
            return False
        found = self.operands[position]
        return isinstance(found, RegisterOperand) and found.file in PREDICATE_FILES

    def word(self, operand: SassOperand, type_: str = "b32", parts: Iterable[str] = ()) -> Operand:
        """The 32 bits of an operand, read as `type_`: f32, s32, u32 or b32.

        `parts` are selections that the caller applies itself.
        """
        value = self._plain_word(operand, type_)
        if isinstance(operand, RegisterOperand | ConstantOperand):
            self._refuse_parts(operand.parts, parts)
            value = self._signed(value, operand.sign, operand.is_absolute, type_)
        return value

    def pair(self, operand: SassOperand, type_: str = "b64", parts: Iterable[str] = ()) -> Operand:
        """The 64 bits of an operand, read as `type_`: f64, s64, u64 or b64."""
        value = self._plain_pair(operand, type_)
        if isinstance(operand, RegisterOperand | ConstantOperand):
            self._refuse_parts(operand.parts, (*parts, "64"))
            value = self._signed(value, operand.sign, operand.is_absolute, type_)
        return value

    def words(self, operand: SassOperand, count: int) -> tuple[Operand, ...]:
        """The 32-bit registers of an operand that takes `count` neighbours."""
        if not isinstance(operand, RegisterOperand):
            raise self.refuse("an operand of several registers is none")
        if operand.number is None:
            return (_FALSE,) * count
        return tuple(self._read(operand.file, operand.number + i) for i in range(count))

    def predicate(self, operand: SassOperand) -> Operand:
        """A predicate, true or false for PT, after its `!`."""
        if not isinstance(operand, RegisterOperand) or operand.file not in PREDICATE_FILES:
            raise self.refuse("an operand is no predicate")
        if operand.number is None:
            return _FALSE if operand.sign else _TRUE
        value = self._read(operand.file, operand.number)
        return self.compute("not.pred", 1, value) if operand.sign else value

    def predicate_register(self, operand: SassOperand) -> Register:
        """A predicate as a register, also where it is constant."""
        return self.in_register(self.predicate(operand), 1)

    def in_register(self, value: Operand, bits: int) -> Register:
        """The value itself, or a copy of a constant."""
        if isinstance(value, Register):
            return value
        kind = "pred" if bits == 1 else f"b{bits}"
        return self.compute(f"mov.{kind}", bits, value)

    # destinations

    def destination(self, operand: SassOperand) -> Register:
        """The 32-bit register that an operand names; one that nobody reads for RZ."""
        file, number = self._named(operand)
        if number is None:
            return self.register(1 if file in PREDICATE_FILES else 32)
        return self._written(file, number)

    def pair_destination(self, operand: SassOperand) -> Register:
        """The 64-bit register of an operand and its upper neighbour; `finish` writes the halves."""
        file, number = self._named(operand)
        if number is None:
            return self.register(64)
        low, high = self._written(file, number), self._written(file, number + 1)
        pair = self.registers.pair(file, number)
        self._owned.add(pair.index)
        if self.guard is not None:  # lanes without it keep what they had
            self._update(pair, low, high)
        self._pairs.append((pair, low, high))
        return pair

    def destinations(self, operand: SassOperand, count: int) -> tuple[Register | None, ...]:
        """The 32-bit registers of an operand that takes `count` neighbours; None for RZ."""
        file, number = self._named(operand)
        if number is None:
            return (None,) * count
        return tuple(self._written(file, number + i) for i in range(count))

    def is_wide(self, operand: SassOperand) -> bool:
        """Whether some instruction takes the register as the lower half of 64 bits."""
        return isinstance(operand, RegisterOperand) and (
            (operand.file, operand.number or 0) in self.context.wide
        )

    def is_discarded(self, operand: SassOperand) -> bool:
        """Whether a destination is RZ, PT or the like."""
        return self._named(operand)[1] is None

    # writing

    def main(self, mnemonic: str, *operands: Operand | None, results: int = 1) -> None:
        """The instruction that counts: `results` destinations, then sources."""
        destinations, sources = operands[:results], operands[results:]
        assert all(d is None or isinstance(d, Register) for d in destinations)
        self._write(mnemonic, destinations, sources, is_main=True)

    def part(self, mnemonic: str, *operands: Operand | None, results: int = 1) -> None:
        """What hardware does as a part of the instruction: `results` destinations, then sources."""
        self._write(mnemonic, operands[:results], operands[results:], is_main=False)

    def nothing(self) -> None:
        """An instruction that counts and computes nothing."""
        self.main("mov.b32", self.register(32), _FALSE)

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """The instruction itself under its own name, or a part of it."""
        if not is_main:
            return Counted(
                pc=self.builder.added_pc(),
                mnemonic=mnemonic,
                span=self.span,
                origin=self.origin,
                is_added=False,
                is_part=True,
            )
        self._is_counted = True
        self.context.pc += 1
        return Counted(
            pc=self.context.pc - 1,
            mnemonic=self.statement.mnemonic,
            span=self.span,
            origin=self.origin,
            is_added=False,
            is_part=False,
        )

    def fields(self, mnemonic: str, *, is_main: bool = False) -> Fields:
        """Accesses and exchanges are all under the statement's guard."""
        return Fields(**self.counted(mnemonic, is_main=is_main), guard=self.guard)

    def finish(self) -> None:
        """Writes the halves of pairs; refuses modifiers that nothing took."""
        if self._left:
            raise self.refuse(f"modifier '.{self._left[0]}'")
        for pair, low, high in self._pairs:
            self.part("mov.b64", low, high, pair, results=2)
        if not self._is_counted:
            self.nothing()

    # inside

    def _write(
        self,
        mnemonic: str,
        destinations: tuple[Operand | None, ...],
        sources: tuple[Operand | None, ...],
        *,
        is_main: bool,
    ) -> None:
        targets = tuple(d for d in destinations if d is None or isinstance(d, Register))
        values = tuple(source for source in sources if source is not None)
        shape = ""
        if mnemonic == "mov.b64" and len(targets) == 2:
            shape = "unpack2"
        elif mnemonic == "mov.b64" and len(values) == 2:
            shape = "pack2"
        guard = self.guard
        is_own = any(d is not None and d.index in self._owned for d in targets)
        if not is_main and not is_own:
            self.guard = None
        try:
            computed = self.computed(mnemonic, targets, *values, shape=shape, is_main=is_main)
        finally:
            self.guard = guard
        self.builder.append(computed)

    def assign_all(
        self,
        mnemonic: str,
        destinations: tuple[Register | None, ...],
        *sources: Operand,
        shape: str = "",
        is_main: bool = False,
    ) -> None:
        """Writes a part or the instruction itself; temporary results need no guard."""
        assert not shape
        self._write(mnemonic, destinations, sources, is_main=is_main)

    def _guard(self) -> Guard | None:
        operand = self.statement.guard
        if operand is None or (operand.number is None and not operand.sign):
            return None
        if operand.number is None:
            return Guard(self.compute("mov.pred", 1, _FALSE), negated=False)
        register = self._read(operand.file, operand.number)
        is_written = any(
            isinstance(item, RegisterOperand)
            and (item.file, item.number) == (operand.file, operand.number)
            for item in self.operands
        )
        if is_written:
            register = self.compute("mov.pred", 1, register)
        return Guard(register, negated=bool(operand.sign))

    def notes_reads(self, operands: Iterable[SassOperand]) -> None:
        """Tells that the machine reads these registers here, whatever the lowering reads."""
        for operand in operands:
            if isinstance(operand, RegisterOperand) and operand.number is not None:
                self.reads[self.registers.number(operand.file, operand.number)] = None

    def _read(self, file: str, number: int) -> Register:
        self.reads[self.registers.number(file, number)] = None
        return self.registers.word(file, number)

    def _written(self, file: str, number: int) -> Register:
        self.writes[self.registers.number(file, number)] = None
        register = self.registers.word(file, number)
        self._owned.add(register.index)
        return register

    def _named(self, operand: SassOperand) -> tuple[str, int | None]:
        if not isinstance(operand, RegisterOperand) or operand.sign or operand.is_absolute:
            raise self.refuse("a destination is no register")
        return operand.file, operand.number

    def _plain_word(self, operand: SassOperand, type_: str) -> Operand:
        match operand:
            case RegisterOperand(number=None):
                return _FALSE
            case RegisterOperand(number=int(number)):
                if operand.file in PREDICATE_FILES:
                    raise self.refuse("a predicate where a register is expected")
                return self._read(operand.file, number)
            case ConstantOperand():
                return self.constant(operand, 4)
            case ImmediateOperand():
                if operand.value is not None and not type_.startswith("f"):
                    return Immediate(operand.value & _WORD)
                return Immediate(self.statement.immediate_word)
        raise self.refuse("an operand of no known kind")

    def _plain_pair(self, operand: SassOperand, type_: str) -> Operand:
        match operand:
            case RegisterOperand(number=None):
                return _FALSE
            case RegisterOperand(number=int(number)):
                low = self._read(operand.file, number)
                high = self._read(operand.file, number + 1)
                pair = self.registers.pair(operand.file, number)
                self._update(pair, low, high)
                return pair
            case ConstantOperand():
                return self.constant(operand, 8)
            case ImmediateOperand():
                if type_ == "f64":
                    return Immediate(self.statement.immediate_word << 32)
                if operand.value is not None:
                    return Immediate(operand.value & (_WORD << 32 | _WORD))
        raise self.refuse("an operand of no known kind")

    def _update(self, pair: Register, low: Register, high: Register) -> None:
        """Brings a pair up to date in all lanes; the pass deletes it where it is."""
        guard, self.guard = self.guard, None
        computed = self.computed("mov.b64", (pair,), low, high, shape="pack2")
        self.guard = guard
        self.builder.append(computed)

    def constant(self, operand: ConstantOperand, size: int) -> Operand:
        """What a place of a constant bank holds; `size` is 4 or 8 bytes."""
        if operand.index is not None and operand.index.number is not None:
            raise self.refuse("an indexed constant as an operand")
        if operand.bank_register is not None:
            raise self.refuse("a constant bank in a register")
        found = self.context.entry.constant(operand.bank, operand.offset, size)
        if found is None:
            place = f"c[{operand.bank:#x}][{operand.offset:#x}]"
            raise self.refuse(f"what {place} holds is not known")
        return found

    def _signed(self, value: Operand, sign: str, is_absolute: bool, type_: str) -> Operand:
        bits = int(type_[1:])
        number = type_ if type_.startswith("f") else f"s{bits}"
        if isinstance(value, Immediate) and type_.startswith("f"):
            top = 1 << (bits - 1)
            magnitude = value.bits & (top - 1) if is_absolute else value.bits
            return Immediate(magnitude ^ top if sign == "-" else magnitude)
        if is_absolute:
            value = self.compute(f"abs.{number}", bits, value)
        if sign == "-":
            return self.compute(f"neg.{number}", bits, value)
        if sign in ("~", "!"):
            return self.compute(f"not.b{bits}", bits, value)
        return value

    def _refuse_parts(self, parts: tuple[str, ...], known: Iterable[str]) -> None:
        for part in parts:
            if part not in known:
                raise self.refuse(f"an operand with '.{part}'")
