"""Random kernels whose machine code must do what their PTX does, bit for bit.

They are those of `tests/simcore/random_kernels`, without what depends on when lanes come together,
on clocks, or on registers that nothing wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from tests.simcore.random_kernels import BUFFERS, SHAPES, KernelMaker, random_buffers

__all__ = [
    "ARCHITECTURES",
    "Difference",
    "Program",
    "architectures_of",
    "differences",
    "programs",
    "together",
]

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
_ENGINES = ("reference", "jit")
_TOGETHER = (
    "shfl.sync.<up|down|bfly|idx>.b32 <r>|<p>, <r>, <<ri>|1|2|16>, <31|0|0x181f|<r>>, %full;",
    "shfl.sync.<bfly|down>.b32 <r>, <w>, <1|4|16>, 31, %full;",
    "vote.sync.ballot.b32 <r>, <p>, %full; vote.sync.<any|all|uni>.pred <p>, <|!><p>, %full;",
    "match.any.sync.b32 <r>, <r>, %full; bar.warp.sync %full;",
)
_CARRIES = (
    "add.cc.u32 <r>, <r>, <ri>; addc.cc.u32 <r>, <r>, <ri>; addc.u32 <r>, <r>, <ri>;",
    "sub.cc.u32 <r>, <r>, <ri>; subc.cc.u32 <r>, <r>, <ri>; subc.u32 <r>, <r>, <ri>;",
    "mad.lo.cc.u32 <r>, <r>, <ri>, <r>; madc.hi.u32 <r>, <r>, <ri>, <r>;",
    "<?>add.s64 <d>, <d>, <di>; <?>sub.s64 <d>, <di>, <d>;",
    "shl.b64 %a0, <d>, <2|3|12>; <?>add.s64 <d>, %a0, <d>; <?>mad.lo.s64 <d>, <d>, <3|8>, <d>;",
    "<?>mad.wide.<s|u>32 <d>, <w>, <ri>, <d>; setp.<lt|ge|eq|ne>.<s|u>64 <p>, <d>, <di>;",
    "<?>lop3.b32 <r>, <r>, <r>, <ri>, <0xE8|0x96|0xCA|0x1|0x6A|0x47>;",
    "shf.<l|r>.<wrap|clamp>.b32 <r>, <r>, <r>, <ri>; <?>shf.l.wrap.b32 <r>, <r>, <r>, <7|13>;",
)


_QUOTIENTS = (
    "or.b32 %t0, <r>, 1; <?><div|rem>.<s|u>32 <r>, <r>, %t0; <?>div.u32 <r>, <r>, <3|7|100>;",
    "or.b64 %a0, <d>, 1; <?><div|rem>.<s|u>64 <d>, <d>, %a0; rem.s64 <d>, <d>, <3|8|1000>;",
    "or.b16 %h3, %h3, 1; <div|rem>.<s|u>16 <h>, <h>, %h3; <?>rem.s32 <r>, <r>, <8|5>;",
)


_FAR_FIELD = re.compile(r"(bfe\.s32 %r\d, %r\d, )(?:32|40|255)(?=, \d)")
"""A signed field behind the last bit: the assembler of CUDA 12.8 makes -1 of it, whatever it is."""

_LONG_SHIFT = re.compile(r"(sh[lr]\.[bus]16 %h\d, %h\d, )(?:-\d+|\d{6,})(?=;)")
"""A shift of 16 bits by a number of more: assemblers take its lower half."""


class ProgramMaker(KernelMaker):
    """Writes kernels whose results the PTX manual defines; lanes meet where all are together."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, knows_lanes=False)
        del self._simple["late"]
        # places of bits are at most 255, in vectors all elements are as wide
        few = "<%t0|%t1|0|3|8|31|32|40|255>"
        fields = "and.b32 %t0, <r>, 255; and.b32 %t1, <r>, <31|63|255>;"
        fields += f" bfe.<s|u><32 <r>, <r>|64 <d>, <d>>, {few}, {few};"
        fields += f" bfi.b32 <r>, <r>, <r>, {few}, {few};"
        # what a division by zero gives is left open
        self._simple["integer"] = [
            fields if form.startswith("bfe") else form.replace("|div|rem>", ">")
            for form in self._simple["integer"]
        ]
        self._simple["quotient"] = list(_QUOTIENTS)
        self._loaded[4] = self._loaded[4].replace("{%h3, <r>, %h2, _}", "{%h3, %h1, %h2, _}")
        self._simple["lanes"] = ["<?>mov.u32 <r>, %<laneid|lanemask_lt|lanemask_ge>;"]
        self._simple["carries"] = list(_CARRIES)

    def _statements(self, count: int, depth: int, *, together: bool) -> None:
        for _ in range(count):
            if together and not self._returns and self.random.random() < 0.1:
                self._count("across lanes")
                self._add(self.random.choice(_TOGETHER))
            super()._statements(1, depth, together=together)


@dataclass(frozen=True)
class Program:
    """The text of a kernel `k`, the seed that made it, and the index of its launch's shape."""

    seed: int
    text: str
    shape: int


@dataclass(frozen=True)
class Difference:
    """What machine code of a program did otherwise than its PTX."""

    seed: int
    architecture: str
    engine: str
    what: str


def programs(first: int, count: int) -> list[Program]:
    """Programs with the seeds from `first` on."""
    found = []
    for seed in range(first, first + count):
        random = Random(seed)
        text = ProgramMaker(random).text()
        header = "activemask.b32 %full;\n"
        text = text.replace(".target sm_75", ".target sm_70").replace(
            "mov.u32 %own, tile;", f"{header}mov.u32 %own, tile;"
        )
        text = text.replace("%fuel, ", "%fuel, %full, ", 1)
        text = _LONG_SHIFT.sub(r"\g<1>16", _FAR_FIELD.sub(r"\g<1>31", text))
        found.append(Program(seed, text, random.randrange(len(SHAPES))))
    return found


def architectures_of(seed: int) -> tuple[str, str]:
    """Two architectures, all of them in turn."""
    count = len(ARCHITECTURES)
    return ARCHITECTURES[seed % count], ARCHITECTURES[(seed + 1 + seed // count % 7) % count]


def together(items: list[Program]) -> str:
    """One file with the kernels k0, k1, ..."""
    texts = []
    for index, program in enumerate(items):
        text = program.text.replace("entry k(", f"entry k{index}(")
        text = text.replace("table", f"table{index}")
        if index:
            text = text[text.index(".const") :]
        texts.append(text)
    return "\n".join(texts)


def differences(
    items: list[Program], architectures: Sequence[str], engines: Sequence[str] = _ENGINES
) -> list[Difference]:
    """What the machine code of programs does otherwise than their PTX."""
    text = together(items)
    source = read_ptx(text, "random.ptx")
    found = []
    expected = [
        _memory(source.kernels[f"k{index}"], program.shape, "reference")
        for index, program in enumerate(items)
    ]
    for architecture in architectures:
        machine = assembled_module(text, architecture, "random.ptx", source, ("-fmad=false",))
        for index, program in enumerate(items):
            name = f"k{index}"
            if name in machine.rejected:
                reason = str(machine.rejected[name][0])
                found.append(Difference(program.seed, architecture, "", f"refused: {reason}"))
                continue
            for engine in engines:
                what = _unlike(machine.kernels[name], program.shape, engine, expected[index])
                if what:
                    found.append(Difference(program.seed, architecture, engine, what))
    return found


def _memory(kernel: Kernel, shape: int, engine: str) -> list[npt.NDArray[Any]]:
    buffers = random_buffers()
    launch = Launch(*SHAPES[shape], (*buffers, 9, 3))
    execute(kernel, launch, engine=engine)
    return buffers


def _unlike(kernel: Kernel, shape: int, engine: str, expected: list[npt.NDArray[Any]]) -> str:
    try:
        memory = _memory(kernel, shape, engine)
    except Exception as error:  # whatever it is: the PTX ran
        return f"{type(error).__name__}: {error}"
    for name, one, other in zip(BUFFERS, expected, memory, strict=True):
        places = np.flatnonzero(one != other)
        if places.size:
            return f"{name}[{places[0]}] and {places.size - 1} other bytes"
    return ""
