"""Small kernels in a right form and with one planted bug each, from the texts in `kernels/`.

A kernel begins with `== NAME [block=X,Y,Z] [clears=yes]`. Behind `//` of a line stand its plants:
`drop KIND` leaves the line out, `else KIND: TEXT` puts the text in its place; `KIND@N` is found in
N schedules. All have the same parameters, registers and launch: `a` counts from 0, `b` and `c` are
zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kernelcast as kc

__all__ = ["Planted", "checked", "planted_kernels"]

_FOLDER = Path(__file__).parent / "kernels"
_GRID, _THREADS, _COUNT = 2, 64, 128
_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{{
 .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
 .shared .align 4 .b8 tile[1024];
 .shared .align 4 .b8 counter[512];
 ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c]; ld.param.u32 %r0, [n];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
 mad.lo.u32 %r4, %r2, %r3, %r1;
 shl.b32 %r5, %r1, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r5; mov.u32 %r8, counter;
 mul.wide.u32 %rd4, %r4, 4;
 add.s64 %rd5, %rd0, %rd4; add.s64 %rd6, %rd1, %rd4;
{clear}{body}
}}
"""
_CLEAR = """ st.shared.u32 [%r8], 0;
 bar.sync 0;
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """`kind`: what must be found in `schedules`, empty for the right form."""

    name: str
    kind: str
    schedules: int
    source: str
    block: tuple[int, ...]


def planted_kernels() -> Iterator[Planted]:
    """All kernels: each right form, then its planted ones."""
    for file in sorted(_FOLDER.glob("*.txt")):
        for part in f"\n{file.read_text()}".split("\n== ")[1:]:
            head, _, text = part.partition("\n")
            yield from _forms(file.stem, head.split(), text.splitlines())


def _forms(family: str, head: list[str], lines: list[str]) -> Iterator[Planted]:
    name, options = head[0], dict(word.split("=") for word in head[1:])
    block = tuple(int(size) for size in options.get("block", str(_THREADS)).split(","))
    clear = _CLEAR if "clears" in options else ""
    code = [line.partition("//")[0].rstrip() for line in lines]

    def form(number: int, kind: str, body: list[str]) -> Planted:
        text = _HEAD.format(name=name, clear=clear, body="\n".join(body))
        what, _, count = kind.partition("@")
        return Planted(f"{family}-{name}-{number}", what, int(count or 1), text, block)

    yield form(0, "", code)
    number = 0
    for at, line in enumerate(lines):
        for plant in line.split("//")[1:]:
            number += 1
            what, _, text = plant.strip().partition(":")
            how, kind = what.split()
            yield form(
                number, kind, [*code[:at], text.strip() if how == "else" else "", *code[at + 1 :]]
            )


def checked(planted: Planted) -> kc.CheckReport:
    """What a check says of a kernel."""
    buffers = [np.arange(_COUNT, dtype=np.uint32), *(np.zeros(_COUNT, np.uint32) for _ in "bc")]
    kernel = kc.load_ptx(planted.source).only_kernel()
    limits = kc.Limits(seconds=None, instructions_per_warp=1 << 14)
    return kc.check(
        kernel,
        args=[*buffers, _COUNT],
        grid=_GRID,
        block=planted.block,
        schedules=planted.schedules,
        limits=limits,
    )
