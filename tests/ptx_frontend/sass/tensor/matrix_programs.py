"""Kernels of matrix statements: registers of a warp from a buffer, results to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, EXACT, machine_kernel, outputs

__all__ = ["Statement", "check_statements", "register_words"]

Array = npt.NDArray[Any]
LANES = 32


@dataclass(frozen=True)
class Statement:
    """A statement of {D}, {A}, {B}, {C} and %e0, %e1, ...; counts are registers of each.

    `formats`: those of A and B, of C, and of the others, by names of `register_words`.
    """

    text: str
    a: int
    b: int
    c: int
    d: int
    formats: tuple[str, str, str] = ("f16", "f32", "metadata")
    others: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether registers have 64 bits."""
        return self.formats[0] == "f64"

    def inputs(self, random: np.random.Generator) -> Array:
        """A row of lanes for each register, as words of 64 bits."""
        ab, c, other = self.formats
        parts = [
            register_words(ab, (self.a + self.b) * LANES, random),
            register_words(c, self.c * LANES, random),
            register_words(other, self.others * LANES, random),
        ]
        return np.concatenate([part.astype(np.uint64) for part in parts])


def register_words(name: str, count: int, random: np.random.Generator) -> Array:
    """Registers of ordinary values; `fp8` stands for all formats of at most eight bits."""
    match name:
        case "f16":
            return random.normal(size=2 * count).astype(np.float16).view(np.uint32)
        case "bf16":
            bits = random.normal(size=2 * count).astype(np.float32).view(np.uint32) >> 16
            return bits.astype(np.uint16).view(np.uint32)
        case "f32":
            return random.normal(size=count).astype(np.float32).view(np.uint32)
        case "f64":
            return random.normal(size=count).view(np.uint64)
        case "fp8":
            return random.integers(0, 1 << 32, count, dtype=np.uint64) & np.uint64(0x9F9F9F9F)
        case "metadata":  # four bits each that name two different places
            nibbles = random.choice([0x4, 0x8, 0x9, 0xC, 0xD, 0xE], (count, 8)).astype(np.uint32)
            return np.asarray((nibbles << np.arange(0, 32, 4, dtype=np.uint32)).sum(1), np.uint32)
        case "scales":
            return random.integers(120, 132, 4 * count).astype(np.uint8).view(np.uint32)
        case "small":
            return random.integers(-1000, 1000, count).astype(np.int32).view(np.uint32)
    return random.integers(0, 1 << 32, count, dtype=np.uint64)


def _named(letter: str, number: int, first: int, count: int) -> str:
    return "{" + ", ".join(f"%{letter}{number}_{i}" for i in range(first, first + count)) + "}"


def _program(statements: Sequence[Statement], architecture: str) -> str:
    lines, read, written = [], 0, 0
    for number, item in enumerate(statements):
        kind = "b64" if item.is_wide else "b32"
        total = item.a + item.b + item.c + item.others
        lines += [f".reg .{'f64' if item.is_wide else 'b32'} %x{number}_<{total + 1}>;"]
        lines += [f".reg .{'f64' if item.is_wide else 'b32'} %d{number}_<{item.d}>;"]
        for i in range(total):
            load = f"ld.global.{kind} %x{number}_{i}, [%in + {8 * LANES * read}];"
            lines, read = [*lines, load], read + 1
        text, first = item.text, 0
        for name, count in (("{A}", item.a), ("{B}", item.b), ("{C}", item.c)):
            text = text.replace(name, _named("x", number, first, count))
            first += count
        text = text.replace("{D}", _named("d", number, 0, item.d))
        for i in range(item.others):
            text = text.replace(f"%e{i}", f"%x{number}_{first + i}")
        lines.append(f"{text};")
        for i in range(item.d):
            store = f"st.global.{kind} [%out + {8 * LANES * written}], %d{number}_{i};"
            lines, written = [*lines, store], written + 1
    version = "8.7" if architecture == "sm_70" else "8.8"
    return f""".version {version}
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {{
.reg .b64 %in, %out, %at; .reg .b32 %t;
ld.param.u64 %in, [p0]; ld.param.u64 %out, [p1]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8;
add.u64 %in, %in, %at; add.u64 %out, %out, %at;
{chr(10).join(lines)}
ret;
}}
"""


def check_statements(statements: Sequence[Statement], architecture: str) -> None:
    """Machine code gives the bits that the PTX gives, on both engines."""
    random = np.random.default_rng(7)
    given = np.concatenate([statement.inputs(random) for statement in statements])
    found = np.zeros(sum(item.d for item in statements) * LANES, np.uint64)
    launch = Launch((1, 1, 1), (LANES, 1, 1), (given, found))
    text = _program(statements, architecture)
    module = read_ptx(text, "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    wanted = outputs(module.kernels["k"], launch, "jit")[1]
    kernel = machine_kernel(text, architecture, options=EXACT)
    for engine in ENGINES:
        got, first = outputs(kernel, launch, engine)[1], 0
        for statement in statements:
            own = slice(first, first + statement.d * LANES)
            assert np.count_nonzero(wanted[own]) > statement.d * LANES // 2, statement.text
            assert (got[own] == wanted[own]).all(), (statement.text, engine)
            first = own.stop
