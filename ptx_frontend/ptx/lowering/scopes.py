"""What names mean inside of a body: registers, variables and labels, each scope its own."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.errors import UnsupportedInstruction, nearest
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import RegisterDeclaration, VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import Register

__all__ = ["WIDE_HALVES", "RegisterFile", "Scope"]

_DIGITS = "0123456789"
_MOST_DIGITS = 18  # of the number of a register
_REGISTER_BITS = {
    "pred": 1,
    **dict.fromkeys(("b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16"), 16),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), 32),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), 64),
    "b128": 128,
}
"""Register widths by declared type; 8-bit registers are kept in 16 bits, as the hardware does."""
_WIDE_BITS = _REGISTER_BITS["b128"]
WIDE_HALVES = ("low", "high")
"""A register of 128 bits is two of 64, named after it: `%q1.low` and `%q1.high`."""
_VECTORS = {"v2": 2, "v4": 4}
_ELEMENTS = "xyzw"
_COLOURS = dict(zip("rgba", _ELEMENTS, strict=True))
"""Other names of the elements of a vector (PTX ISA 9.0, "Vectors as operands")."""


class RegisterFile:
    """Numbers the registers of one kernel in the order in which they are first used."""

    def __init__(self) -> None:
        self.registers: list[Register] = []
        self.has_vectors = False
        """Whether a register of the kernel was declared as a vector."""

    def new(self, name: str, bits: int) -> Register:
        """Makes a register with the next number."""
        register = Register(len(self.registers), bits, name)
        self.registers.append(register)
        return register


class Scope:
    """One pair of braces. Registers hold from their declaration on, labels everywhere in it."""

    def __init__(self, source: SourceText, file: RegisterFile, parent: Scope | None = None) -> None:
        self._source = source
        self._file = file
        self._parent = parent
        self._own: dict[str, Register] = {}
        self._inherited: dict[str, Register] = {}
        self._singles: dict[str, int] = {}
        self._ranges: dict[str, tuple[int, int]] = {}
        self._vectors: dict[str, tuple[int | None, int, int]] = {}
        self._variables: dict[str, VariableDeclaration] = {}
        self._labels: dict[str, int] = {}

    def declare_registers(self, declaration: RegisterDeclaration) -> None:
        """Declares registers; PtxSyntaxError for a name that the scope has already."""
        bits = _REGISTER_BITS.get(declaration.type)
        vector = f".{declaration.vector}" if declaration.vector else ""
        is_vector = declaration.vector in _VECTORS and bits not in (1, _WIDE_BITS)
        if bits is None or (vector and not is_vector):
            raise UnsupportedInstruction(
                f"registers of type {vector}.{declaration.type} are not supported",
                self._source.span(declaration.at, len(".reg")),
            )
        for name, count in declaration.names:
            self._refuse_duplicate(name, count, declaration.at)
            if vector:
                self._vectors[name] = (count, _VECTORS[declaration.vector], bits)
                self._file.has_vectors = True
            elif count is None:
                self._singles[name] = bits
            else:
                self._ranges[name] = (count, bits)
        self._inherited.clear()

    def _refuse_duplicate(self, name: str, count: int | None, at: int) -> None:
        if count is None:
            is_taken = self._is_declared(name) or name in self._variables
        else:
            is_taken = (
                name in self._ranges
                or name in self._vectors
                or any(_index_in(single, name, count) for single in self._singles)
            )
        if is_taken:
            raise self._duplicate("register", name, at)

    def _duplicate(self, what: str, name: str, at: int) -> Exception:
        error = self._source.error(f"{what} {name!r} is declared twice", at)
        error.span = self._source.span_of(name, at)
        return error

    def _is_declared(self, name: str) -> bool:
        return self._declared_bits(name) is not None or self._own_vector(name) is not None

    def _own_vector(self, name: str) -> tuple[int, int] | None:
        """(number of elements, bits of each) of a vector register here; None for others."""
        for prefix, (count, elements, bits) in self._vectors.items():
            if name == prefix if count is None else _index_in(name, prefix, count):
                return elements, bits
        return None

    def vector(self, name: str) -> tuple[str, ...]:
        """The names of the elements of a vector register; empty when it is none."""
        found = self._own_vector(name)
        if found is not None:
            return tuple(f"{name}.{element}" for element in _ELEMENTS[: found[0]])
        hidden = self._declared_bits(name) is not None or name in self._variables
        return () if hidden or self._parent is None else self._parent.vector(name)

    def _declared_bits(self, name: str) -> int | None:
        bits = self._singles.get(name)
        if bits is not None:
            return bits
        whole, _, half = name.rpartition(".")
        if whole and self._vectors and (vector := self._own_vector(whole)) is not None:
            return vector[1] if half in _ELEMENTS[: vector[0]] else None
        if half in WIDE_HALVES:
            is_wide = self._declared_bits(whole) == _WIDE_BITS
            return _WIDE_BITS // 2 if is_wide else None
        end = len(name)
        shortest = max(len(name.rstrip(_DIGITS)), end - _MOST_DIGITS)
        while end > shortest:
            end -= 1
            known = self._ranges.get(name[:end])
            if known is not None and _index_in(name, name[:end], known[0]):
                return known[1]
        return None

    def register(self, name: str) -> Register | None:
        """The register of that name here or in a scope around, None when there is none."""
        found = self._own.get(name) or self._inherited.get(name)
        if found is not None:
            return found
        if self._file.has_vectors and name[-2:-1] == "." and name[-1] in _COLOURS:
            name = name[:-1] + _COLOURS[name[-1]]
            found = self._own.get(name)
            if found is not None:
                return found
        bits = self._declared_bits(name)
        if bits is not None:
            found = self._own[name] = self._file.new(name, bits)
        elif self._parent is not None and name not in self._variables:
            found = self._parent.register(name)
            if found is not None:
                self._inherited[name] = found
        return found

    def declare_variable(self, declaration: VariableDeclaration) -> None:
        """Declares a variable; PtxSyntaxError for a name that the scope has."""
        name = declaration.name
        if name in self._variables or self._is_declared(name):
            raise self._duplicate("variable", name, declaration.at)
        self._variables[name] = declaration

    def variable(self, name: str) -> VariableDeclaration | None:
        """The declaration of a variable in this scope or those around it; None if there is none."""
        found = self._variables.get(name)
        if found is None and self._parent is not None:
            return self._parent.variable(name)
        return found

    def declare_label(self, name: str, block: int, at: int) -> None:
        """Declares a label; PtxSyntaxError for one that the scope has."""
        if name in self._labels:
            raise self._duplicate("label", name, at)
        self._labels[name] = block

    def label(self, name: str) -> int | None:
        """The basic block at the label, None for a label of no scope around."""
        found = self._labels.get(name)
        if found is None and self._parent is not None:
            return self._parent.label(name)
        return found

    def nearest_name(self, name: str) -> str:
        """A suggestion for a misspelt name; empty if nothing is near."""
        return nearest(name, set(self._names()))

    def nearest_label(self, name: str) -> str:
        """A suggestion for a misspelt label; empty if nothing is near."""
        return nearest(name, set(self._label_names()))

    def _names(self) -> Iterator[str]:
        yield from self._singles
        yield from self._variables
        for prefix, (count, _) in self._ranges.items():
            yield from (f"{prefix}{index}" for index in {0, 1, count // 2, count - 1} if count)
        if self._parent is not None:
            yield from self._parent._names()

    def _label_names(self) -> Iterator[str]:
        yield from self._labels
        if self._parent is not None:
            yield from self._parent._label_names()


def _index_in(name: str, prefix: str, count: int) -> bool:
    """Whether `name` is one of prefix0 ... prefix(count - 1)."""
    digits = name[len(prefix) :]
    return (
        count > 0
        and name.startswith(prefix)
        and digits.isdecimal()
        and (digits == "0" or digits[0] != "0")
        and int(digits) < count
    )
