"""Workload files to begin with: the kernel's own parameters, and guesses of sizes and launch.

Names and types come from the source, as far as it is there, else from mangled names and from what
PTX says. Everything that is guessed is a size, a shape or a value that a user looks at first.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.execution.runnable import LoadedModule, RunnableKernel
from kernelcast.input_files import read_input
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.signatures import NamedParameter, signature_of_symbol, signatures
from kernelcast.inputs.source_file import COMPILED_SUFFIXES, load_source
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, Load, Store
from kernelcast.simcore.isa.ir.operands import Special, SpecialRegister
from kernelcast.simcore.isa.ir.parameters import Parameter
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.isa.types import AddressSpace, Kind

__all__ = ["workload_skeleton"]

_SIZE = re.compile(
    r"(?i)^_?(?:[mk]|n[xyz]?|n\d+|[hw]|d|.*(?:size|count|len|length|num|width|height|depth|rows?|cols?|"
    r"columns?|elements|dim[xyz]?|total|limit|end)|(?:num|count|size|len)_?.*|n_.*|n[A-Z].*)$"
)
"""Integers of such names say how much there is."""
_PITCH = re.compile(r"(?i)^_?(?:ld[a-z]?|.*(?:stride|pitch|leading).*)$")
"""Integers of such names say how far rows are apart."""
_NUMBERED = re.compile(r"_param_\d+$")
"""Names of parameters that compilers give."""
_GLOBAL = (AddressSpace.GLOBAL, AddressSpace.GENERIC)
_ONE_SIZE, _ONE_OF_SEVERAL = 1 << 20, 1 << 10
_BLOCK, _BLOCK_2D = 256, (16, 16)
_SECOND_AXIS = (Special.TID_Y, Special.CTAID_Y)
_STRUCT_BYTES = 16
"""The guess for an element of a struct."""


def workload_skeleton(
    source: Path,
    entry: str = "",
    folder: Path | None = None,
    options: CompilerOptions | None = None,
) -> str:
    """The text of a workload file that lies in `folder`, by default that of the source.

    InputError where the file has several kernels and none is chosen, or a parameter that is an
    image, a texture or a sampler; whatever loading the source raises.
    """
    names = (entry,) if "<" in entry and source.suffix in COMPILED_SUFFIXES else ()
    module = load_source(source, options or CompilerOptions(names=names))
    kernel = module[entry] if entry else _only(module, source)
    place = Path(os.path.relpath(source, folder or source.parent)).as_posix()
    parameters = tuple(_named_parameters(kernel.kernel, source))
    return "\n".join(_Skeleton(place, entry, kernel.kernel, parameters).lines())


def _only(module: LoadedModule, source: Path) -> RunnableKernel:
    if len(module) != 1:
        names = ", ".join(module._names_to_call())
        raise InputError(f"{source} has {len(module)} kernels: choose one with --entry: {names}")
    return module.only_kernel()


def _named_parameters(kernel: Kernel, source: Path) -> Iterator[NamedParameter]:
    """The kernel's parameters, named and typed as well as can be told."""
    of_source: tuple[NamedParameter, ...] = ()
    if source.suffix in COMPILED_SUFFIXES:
        text = read_input(source).decode("utf-8", "replace")
        of_source = signatures(text).get(source_name(kernel.name).rpartition("::")[2], ())
    told = [
        item
        for item in (of_source, signature_of_symbol(kernel.name))
        if len(item) == len(kernel.parameters)
    ]
    for place, parameter in enumerate(kernel.parameters):
        if parameter.is_opaque:
            raise InputError(
                f"{source}: parameter {place + 1} of {source_name(kernel.name)} is an image, a "
                "texture or a sampler: describe it by hand (docs/workloads.md)"
            )
        yield _merged(parameter, place, [item[place] for item in told], _usual_element(kernel))


def _usual_element(kernel: Kernel) -> str:
    """The type that most loads and stores of global memory have."""
    types = Counter(
        f"{_letter(item.type.kind)}{8 * item.type.bytes}"
        for item in kernel.instructions
        if isinstance(item, Load | Store) and item.address.space in _GLOBAL
    )
    return types.most_common(1)[0][0] if types else "f32"


def _merged(
    parameter: Parameter, place: int, known: Sequence[NamedParameter], element: str
) -> NamedParameter:
    """What the source says before what the symbol says, before what compiled code says."""
    if not known:
        return _guessed(parameter, place, element)
    typed = next((item for item in known if item.type), None)
    is_pointer = parameter.is_pointer or any(item.is_pointer for item in known)
    kind = typed.type if typed else "" if is_pointer else _plain(parameter)
    letter = "n" if kind in ("s32", "u32") and not is_pointer else "p"
    return NamedParameter(
        next((item.name for item in known if item.name), _name(parameter, place, letter)),
        kind,
        typed.lanes if typed else 1,
        is_pointer=is_pointer,
        is_const=any(item.is_const for item in known),
    )


def _guessed(parameter: Parameter, place: int, element: str) -> NamedParameter:
    """What compiled code alone says: integers of 64 bits are pointers, those of 32 bits sizes."""
    is_integer = parameter.type.kind is not Kind.FLOAT and not parameter.is_struct
    if parameter.is_pointer or (is_integer and parameter.size == 8):
        return NamedParameter(_name(parameter, place), element, is_pointer=True)
    return NamedParameter(
        _name(parameter, place, "n" if is_integer and parameter.size == 4 else "p"),
        _plain(parameter),
    )


def _plain(parameter: Parameter) -> str:
    if parameter.is_struct:
        return ""
    return f"{_letter(parameter.type.kind)}{8 * parameter.type.bytes}"


def _name(parameter: Parameter, place: int, letter: str = "p") -> str:
    """The name that the code has, unless a compiler made it up."""
    is_own = re.fullmatch(r"[A-Za-z]\w*", parameter.name) and not _NUMBERED.search(parameter.name)
    return parameter.name if is_own else f"{letter}{place}"


def _letter(kind: Kind) -> str:
    return {Kind.FLOAT: "f", Kind.UNSIGNED: "u"}.get(kind, "s")


def _is_integer(item: NamedParameter) -> bool:
    return not item.is_pointer and item.lanes == 1 and item.type[:1] in ("s", "u")


def _is_size(item: NamedParameter) -> bool:
    return _is_integer(item) and _SIZE.match(item.name) is not None


@dataclass(frozen=True)
class _Skeleton:
    """A workload of a kernel, `source` as the file names it."""

    source: str
    entry: str
    kernel: Kernel
    parameters: Sequence[NamedParameter]

    @cached_property
    def sizes(self) -> list[str]:
        """What the sizes are called: as the kernel's integers that say how much there is."""
        return list(dict.fromkeys(p.name for p in self.parameters if _is_size(p))) or ["n"]

    @cached_property
    def is_flat(self) -> bool:
        """Whether all threads that differ do so along x."""
        return not any(
            isinstance(operand, SpecialRegister) and operand.which in _SECOND_AXIS
            for item in self.kernel.instructions
            if isinstance(item, Compute)
            for operand in item.sources
        )

    @property
    def sides(self) -> list[str]:
        """The sizes whose product is that of a buffer, rows first."""
        if self.is_flat or len(self.sizes) > 1:
            return self.sizes[:2]
        return self.sizes * 2

    @property
    def elements(self) -> str:
        """The shape of a buffer."""
        return " * ".join(self.sides)

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        yield "# Sizes, shapes and values are guesses: see that they are those of your launch."
        yield "[kernel]"
        yield f"source = {json.dumps(self.source, ensure_ascii=False)}"
        yield f"entry = {json.dumps(self.entry or source_name(self.kernel.name))}"
        yield ""
        yield "[sizes.default]"
        for name in self.sizes:
            yield f"{name} = {_ONE_SIZE if len(self.sides) == 1 else _ONE_OF_SEVERAL:_}"
        yield ""
        yield "[launch]"
        yield from self._launch()
        for item, parameter in zip(self.parameters, self.kernel.parameters, strict=True):
            yield ""
            yield "[[args]]"
            yield f'name = "{item.name}"'
            yield from self._argument(item, parameter)
        yield ""

    def _launch(self) -> Iterator[str]:
        declared = self.kernel.required_threads or self.kernel.max_threads
        if self.is_flat:
            total = self.elements if len(self.sides) == 1 else f"({self.elements})"
            yield f'grid = ["ceil({total} / block.x)"]'
            yield f"block = [{declared[0] if declared else _BLOCK}]"
            return
        is_plane = declared is not None and declared[1] > 1
        block = declared[:2] if declared and is_plane else _plane(declared)
        yield f'grid = ["ceil({self.sides[1]} / block.x)", "ceil({self.sides[0]} / block.y)"]'
        yield f"block = [{block[0]}, {block[1]}]"

    def _argument(self, item: NamedParameter, parameter: Parameter) -> Iterator[str]:
        if parameter.is_local_array:
            yield f'type = "local {item.type or "f32"}[block.x]"'
        elif item.is_pointer:
            yield from self._buffer(item)
        elif not item.type or item.lanes > 1:
            yield f'type = "bytes[{parameter.size}]"'
            yield 'init = "zeros"'
        else:
            yield f'type = "{item.type}"'
            yield f"value = {self._value(item)}"

    def _buffer(self, item: NamedParameter) -> Iterator[str]:
        if not item.type:
            yield f'type = "u8[{_STRUCT_BYTES} * {self.elements}]"  # {_STRUCT_BYTES} is a guess'
            return
        lanes = f" * {item.lanes}" if item.lanes > 1 else ""
        yield f'type = "{item.type}[{self.elements}{lanes}]"'
        if item.type[0] in "fb":
            yield 'init = "uniform"'

    def _value(self, item: NamedParameter) -> str:
        if _is_size(item):
            return f'"{item.name}"'
        if _is_integer(item):
            return f'"{self.sides[-1]}"' if _PITCH.match(item.name) else "1"
        return "1.0"


def _plane(declared: tuple[int, int, int] | None) -> tuple[int, int]:
    """A thread block of two axes with no more threads than declared."""
    if declared is None:
        return _BLOCK_2D
    width = min(_BLOCK_2D[0], declared[0])
    return width, max(1, declared[0] // width)
