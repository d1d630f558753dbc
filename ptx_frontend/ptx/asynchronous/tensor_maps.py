"""`tensormap`: changes of single fields of a tensor map, and copies of whole ones.

PTX ISA 9.0, "tensormap.replace", "tensormap.cp_fenceproxy". A field is some bits of a word, so that
a change of it is a load and a store, as the assembler makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts, shifted
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch import tensor_map_words as words
from kernelcast.simcore.launch.tensor_map_words import BitField

__all__ = ["lower_tensormap"]

_WORD, _LONG = ScalarType.B32, ScalarType.B64
_NUMBERS: Mapping[str, BitField] = {
    "rank": words.RANK_FIELD,
    "interleave_layout": words.INTERLEAVE_FIELD,
    "swizzle_mode": words.SWIZZLE_FIELD,
    "fill_mode": words.FILL_FIELD,
}
_LESS_ONE: Mapping[str, Sequence[BitField]] = {
    "box_dim": words.BOX_FIELDS,
    "global_dim": tuple(
        BitField(words.SIZE_PLACE + 4 * index, 0, 32) for index in range(words.MOST_DIMENSIONS)
    ),
    "element_stride": words.STEP_FIELDS,
}
_OTHERS = ("global_address", "global_stride", "elemtype")


def lower_tensormap(site: Site, builder: BasicBlockBuilder) -> None:
    """`replace` changes a field of a map, `cp_fenceproxy` copies the map."""
    parts = site.mnemonic.split(".")[1:]
    code = InstructionParts.guarded(site, builder)
    if parts[:1] == ["cp_fenceproxy"]:
        _copy_map(code)
        return
    names = [part for part in parts if part in (*_NUMBERS, *_LESS_ONE, *_OTHERS)]
    if parts[:2] != ["replace", "tile"] or len(names) != 1:
        raise site.refused()
    name = names[0]
    is_array = name in _LESS_ONE or name == "global_stride"
    site.expect_operands(2 + is_array)
    _Replacement(code, _map_place(site, 0, parts), is_array).write(name)


class _Replacement:
    """Writes the change of one field."""

    def __init__(self, code: InstructionParts, place: Address, is_array: bool) -> None:
        self._code, self._site, self._place = code, code.site, place
        self._last = 1 + is_array
        self._number = self._dimension() if is_array else 0

    def _dimension(self) -> int:
        number = self._site.source(self._site.operands[1], 1, ScalarType.U32)
        if not isinstance(number, Immediate) or number.bits >= words.MOST_DIMENSIONS:
            raise self._site.error("the number of a dimension must be a constant", 1)
        return number.bits

    def _value(self, type_: ScalarType) -> Operand:
        return self._site.source(self._site.operands[self._last], self._last, type_)

    def write(self, name: str) -> None:
        """The field of that name."""
        if name == "global_address":
            self._code.store(_LONG, self._place, [self._value(_LONG)], is_main=True)
        elif name == "global_stride":
            self._stride()
        elif name == "elemtype":
            value = self._value(_WORD)
            if not isinstance(value, Immediate):
                raise self._site.error("the type of elements must be a constant", self._last)
            low, rounded = words.element_codes(value.bits)
            self._set(words.ELEMENT_FIELD, Immediate(low), is_main=True)
            self._set(words.ROUNDED_FIELD, Immediate(rounded))
        elif name in _NUMBERS:
            field, value = _NUMBERS[name], self._value(_WORD)
            if isinstance(value, Immediate) and value.bits >> field.bits:
                raise self._site.error(f"there is no {name} {value.bits}", self._last)
            self._set(field, value, is_main=True)
        else:
            self._set(_LESS_ONE[name][self._number], self._less_one(), is_main=True)

    def _less_one(self) -> Operand:
        return self._code.compute("sub.u32", 32, self._value(_WORD), Immediate(1))

    def _stride(self) -> None:
        if self._number >= len(words.STRIDE_FIELDS):
            raise self._site.error("there is no such stride", 1)
        code, stride = self._code, self._value(_LONG)
        pieces = code.compute("shr.u64", 64, stride, Immediate(words.STRIDE_UNIT_BITS))
        low = code.compute("cvt.u32.u64", 32, pieces)
        place = shifted(self._place, words.STRIDE_PLACE + 4 * self._number)
        code.store(_WORD, place, [low], is_main=True)
        upper = code.compute("shr.u64", 64, pieces, Immediate(32))
        self._set(words.STRIDE_FIELDS[self._number], code.compute("cvt.u32.u64", 32, upper))

    def _set(self, field: BitField, value: Operand, *, is_main: bool = False) -> None:
        code, place = self._code, shifted(self._place, field.place)
        if field.bits < _WORD.bits:
            word = code.register(32)
            code.load(_WORD, place, [word])
            kept = code.compute("and.b32", 32, word, Immediate(~field.mask & 0xFFFFFFFF))
            moved = code.compute("shl.b32", 32, value, Immediate(field.shift))
            mine = code.compute("and.b32", 32, moved, Immediate(field.mask))
            value = code.compute("or.b32", 32, kept, mine)
        code.store(_WORD, place, [value], is_main=is_main)


def _map_place(site: Site, index: int, parts: Iterable[str]) -> Address:
    space = AddressSpace.GENERIC
    if "global" in parts:
        space = AddressSpace.GLOBAL
    elif "shared::cta" in parts:
        space = AddressSpace.SHARED
    return site.address(index, space, 1)


def _copy_map(code: InstructionParts) -> None:
    """`[to in global], [from in shared], 128`: by every lane of the warp, the same bytes."""
    site = code.site
    site.expect_operands(3)
    to = site.address(0, AddressSpace.GLOBAL, 1)
    source = site.address(1, AddressSpace.SHARED, 1)
    for number in range(8):
        words = [code.builder.temporary(32) for _ in range(4)]
        code.load(ScalarType.B32, shifted(source, 16 * number), words)
        is_main = number == 0
        code.store(ScalarType.B32, shifted(to, 16 * number), words, is_main=is_main)
