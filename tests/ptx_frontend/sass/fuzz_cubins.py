"""Damaged cubins and listings: each ends in kernels or in a refusal, soon and in little memory.

`python -m tests.ptx_frontend.sass.fuzz_cubins COUNT [SEED]` damages COUNT of them on all cores and
shows what escaped. Assembled kernels are damaged as files, with the listing that they had; as
listings; as fat binaries; and a few are disassembled after they were damaged, which the limit of
time may end, as the disassembler makes no end of some.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

from kernelcast.errors import (
    InputError,
    KernelcastError,
    LimitExceeded,
    UnsupportedInstruction,
)
from kernelcast.inputs.fat_binary import code_entries, payload
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.inputs.native.tools import toolset
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["DISASSEMBLED", "KINDS", "Escape", "damaged_module", "escape_of", "run", "seeds"]

SLOW_SECONDS, FAR_SECONDS = 20.0, 600.0
_MOST_BYTES = 4 << 30
"""The most memory of a process that reads them, far more than any of them needs."""
_BATCH = 50
_ALLOWED = (InputError, UnsupportedInstruction)
DISASSEMBLED = "disassembled"
KINDS = ("file", "file", "file", "listing", "listing", "listing", "fat binary")
_HEAD = ".version 8.7\n.target sm_{number}\n.address_size 64\n"
_TEXTS = (
    """
.const .align 4 .b32 table[4] = {1, 2, 3, 4};
.global .align 8 .b64 counter;
.visible .entry k(.param .u64 p, .param .align 8 .b8 s[24], .param .u32 n) {
  .shared .align 4 .b8 m[512];
  .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<4>; .reg .pred %p<4>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [s+8];
  mov.u32 %r3, %tid.x; mul.wide.u32 %d2, %r3, 4; add.s64 %d3, %d1, %d2;
  ld.global.f32 %f1, [%d3]; mov.u32 %r4, 0; mov.u32 %r7, m; shl.b32 %r8, %r3, 2;
  add.s32 %r7, %r7, %r8;
LOOP: setp.ge.s32 %p1, %r4, %r1; @%p1 bra DONE;
  fma.rn.f32 %f1, %f1, %f1, 0f3F800000; add.s32 %r4, %r4, 1; st.shared.f32 [%r7], %f1;
  bar.sync 0; ld.shared.f32 %f2, [m+4]; add.f32 %f1, %f1, %f2; bra LOOP;
DONE: and.b32 %r5, %r2, 3; mul.wide.u32 %d4, %r5, 4; mov.u64 %d5, table; add.s64 %d5, %d5, %d4;
  ld.const.u32 %r6, [%d5]; cvt.rn.f32.u32 %f3, %r6; div.rn.f32 %f4, %f1, %f3;
  atom.global.add.u64 %d6, [counter], 1; cvt.f64.f32 %g1, %f4; sqrt.rn.f64 %g2, %g1;
  cvt.rn.f32.f64 %f5, %g2; st.global.f32 [%d3], %f5; ret;
}
.visible .entry second() .maxntid 64, 1, 1 { .reg .b32 %r<3>; .reg .b64 %d<3>;
  mov.u32 %r1, %laneid; mov.u64 %d1, counter; st.global.u32 [%d1], %r1; ret; }
""",
    """
.func (.param .b32 r) inner(.param .b32 x) { .reg .b32 %r<3>;
  ld.param.u32 %r1, [x]; mul.lo.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), inner, (a);
    ld.param.b32 %r2, [b]; }
  TARGETS: .branchtargets A, B, C, D, E;
  setp.gt.u32 %p1, %r1, 4; @%p1 bra E; brx.idx %r1, TARGETS;
A: add.s32 %r2, %r2, 7; bra E;
B: mul.lo.s32 %r2, %r2, 77; bra E;
C: xor.b32 %r2, %r2, 99; bra E;
D: shl.b32 %r2, %r2, %r1;
E: vote.sync.ballot.b32 %r3, %p1, -1; add.s32 %r2, %r2, %r3; st.global.u32 [%d1], %r2; ret;
}
""",
)
_ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_120")
_EXTREMES = (0, 1, 3, 4, 0x7F, 0xFF, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 64) - 1)
_WORDS = (
    *("R1", "RZ", "UR4", "P0", "PT", "R255", "R99999", "SR_TID.X", "-R3", "|R4|", "R2.64"),
    *("c[0x0][0x160]", "c[0x3][0x0]", "c[0x99][0xfffffff]", "[R2.64]", "[R1+-0x8]", "0x7fffffff"),
    *("0xffffffffffffffffffff", "+INF ", "-1.5", "`(.L_x_1)", "`(.L_x_99)", "desc[UR4][R2.64]"),
    *("IADD3", "BRA", "EXIT", "LDG.E.128", "CALL.REL.NOINC", "RET.REL.NODEC", "BSSY", "BSYNC"),
    *("IMAD.WIDE", "LOP3.LUT", "BRX", "HMMA.1688.F32", "@!P0", "@UP9", ".X4", ",", ";", "(", "]"),
)


@dataclass(frozen=True, slots=True)
class Seed:
    """An assembled file and its listing."""

    content: bytes
    listing: str
    architecture: int


@dataclass(frozen=True, slots=True)
class Escape:
    """A damaged input that took too long, or ended in another error; made again by its number."""

    kind: str
    seed: int
    reason: str


@cache
def seeds() -> tuple[Seed, ...]:
    """Kernels for every architecture whose tools are there, whole and to be linked."""
    found = []
    for name in _ARCHITECTURES:
        number = int(name.removeprefix("sm_"))
        tools = toolset(number)
        if tools is None or tools.assembler is None:
            continue
        for text, options in ((_TEXTS[0], ()), (_TEXTS[1], ()), (_TEXTS[1], ("-c",))):
            content = assemble(_HEAD.format(number=number) + text, name, "seed.ptx", options)
            found.append(Seed(content, disassemble(content, number, "seed.cubin"), number))
    return tuple(found)


def escape_of(kind: str, seed: int) -> Escape | None:
    """None when the damaged input of this number is read or refused as it should be."""
    random_ = random.Random(seed)
    chosen = random_.choice(seeds())
    start = time.process_time()
    try:
        with time_limit(SLOW_SECONDS if kind == DISASSEMBLED else FAR_SECONDS):
            ends = _end(kind, chosen, random_)
        for error in ends:
            str(error)
            is_stopped = kind == DISASSEMBLED and isinstance(error, LimitExceeded)
            if not isinstance(error, _ALLOWED) and not is_stopped:
                return Escape(kind, seed, f"{type(error).__name__}: {error}")
    except Exception:
        return Escape(kind, seed, traceback.format_exc(limit=-5))
    seconds = time.process_time() - start
    is_slow = seconds > SLOW_SECONDS and kind != DISASSEMBLED
    return Escape(kind, seed, f"took {seconds:.1f} s") if is_slow else None


def damaged_module(kind: str, seed: int) -> Module:
    """What is read of the damaged input of this number; KernelcastError when it is refused."""
    random_ = random.Random(seed)
    return _module(kind, random_.choice(seeds()), random_)


def _end(kind: str, seed: Seed, random_: random.Random) -> list[Exception]:
    """What a damaged input was refused for; empty when kernels could be read."""
    try:
        if kind == "fat binary":
            _read_fat_binary(_damaged(_in_fat_binary(seed, random_), random_))
            return []
        module = _module(kind, seed, random_)
    except KernelcastError as error:
        return [error]
    return [error for errors in module.rejected.values() for error in errors]


def _module(kind: str, seed: Seed, random_: random.Random) -> Module:
    content, text = seed.content, seed.listing
    if kind == "listing":
        for _ in range(random_.choice((1, 1, 2, 5))):
            text = random_.choice(_TEXT_DAMAGES)(random_, text)
    else:
        content = _damaged(content, random_)
    cubin = read_cubin(content, "fuzz.cubin")
    if kind == DISASSEMBLED:
        text = disassemble(content, cubin.architecture, "fuzz.cubin")
    codes = {name: function.code for name, function in cubin.functions.items()}
    return lower_cubin(cubin, read_listing(text, codes, "fuzz.cubin"))


def _in_fat_binary(seed: Seed, random_: random.Random) -> bytes:
    import lz4.block
    import pyarrow as pa

    compression = random_.choice((0, 1 << 13, 1 << 15))
    stored = seed.content
    if compression == 1 << 13:
        stored = lz4.block.compress(stored, store_size=False)
    elif compression:
        stored = pa.Codec("zstd").compress(stored, asbytes=True)
    padded = stored + bytes(-len(stored) % 8)
    entry = struct.pack("<HHIQ", 2, 0x101, 64, len(padded))
    entry += struct.pack("<IIHHI", len(stored), 0, 0, 0, seed.architecture)
    entry += struct.pack("<IIQ8xQ", 0, 0, 0x11 | compression, len(seed.content)) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 2 * len(entry)) + 2 * entry


def _read_fat_binary(content: bytes) -> None:
    stream = io.BytesIO(content)
    for entry in code_entries(stream, "fuzz.fatbin"):
        with contextlib.suppress(InputError):
            read_cubin(payload(stream, entry, "fuzz.fatbin"), "fuzz.fatbin")


def _damaged(content: bytes, random_: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(random_.choice((1, 1, 2, 3, 8))):
        data = random_.choice(_FILE_DAMAGES)(random_, data)
    return bytes(data)


def _flip(random_: random.Random, data: bytearray) -> bytearray:
    if data:
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
    return data


def _cut(random_: random.Random, data: bytearray) -> bytearray:
    return data[: random_.randrange(len(data) + 1)]


def _forged_field(random_: random.Random, data: bytearray) -> bytearray:
    """A number of the file's header, or of a section's, becomes an extreme."""
    if len(data) < 64:
        return data
    table, size, count = struct.unpack_from("<40xQ10xHH", data)
    at, width = random_.choice(((40, 8), (58, 2), (60, 2), (62, 2), (48, 4), (16, 2), (8, 1)))
    if random_.random() < 0.8 and count:
        field, width = random_.choice(
            ((0, 4), (4, 4), (8, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8))
        )
        at = table + size * random_.randrange(count) + field
    return _with_extreme(random_, data, at, width)


def _forged_word(random_: random.Random, data: bytearray) -> bytearray:
    return _with_extreme(random_, data, 4 * random_.randrange(len(data) // 4 + 1), 4)


def _with_extreme(random_: random.Random, data: bytearray, at: int, width: int) -> bytearray:
    if at + width <= len(data):
        value = random_.choice((*_EXTREMES, random_.randrange(len(data) + 1)))
        data[at : at + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    return data


def _moved(random_: random.Random, data: bytearray) -> bytearray:
    """A stretch is copied over another."""
    if len(data) > 16:
        size = random_.randrange(1, min(512, len(data) // 2))
        source = random_.randrange(len(data) - size)
        target = random_.randrange(len(data) - size)
        data[target : target + size] = data[source : source + size]
    return data


def _filled(random_: random.Random, data: bytearray) -> bytearray:
    size = random_.choice((4, 16, 64, 512))
    at = random_.randrange(len(data) + 1)
    data[at : at + size] = bytes([random_.choice((0, 0xFF))]) * len(data[at : at + size])
    return data


_FileDamage = Callable[[random.Random, bytearray], bytearray]
_FILE_DAMAGES: tuple[_FileDamage, ...] = (
    *(_flip, _flip, _cut, _forged_field, _forged_field, _forged_field, _forged_word, _moved),
    _filled,
)


def _line(random_: random.Random, text: str) -> str:
    """A line is doubled, left out, or put where another is."""
    lines = text.split("\n")
    first, second = random_.randrange(len(lines)), random_.randrange(len(lines))
    action = random_.randrange(3)
    if action == 0:
        lines.insert(second, lines[first])
    elif action == 1:
        del lines[first]
    else:
        lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def _word(random_: random.Random, text: str) -> str:
    """A word of an instruction becomes another one."""
    found = [match.span() for match in re.finditer(r"(?<=\*/).*", text)]
    if not found:
        return text
    begin, end = random_.choice(found)
    words = [match.span() for match in re.finditer(r"[\w.\[\]+|-]+", text[begin:end])]
    if not words:
        return text
    first, last = random_.choice(words)
    return text[: begin + first] + random_.choice(_WORDS) + text[begin + last :]


def _letter(random_: random.Random, text: str) -> str:
    at = random_.randrange(len(text) + 1)
    return (
        text[:at] + chr(random_.choice((9, 10, 34, 40, 41, 64, 91, 93, 96, 233))) + text[at + 1 :]
    )


def _number(random_: random.Random, text: str) -> str:
    found = [match.span() for match in re.finditer(r"0x[0-9a-f]+|\d+", text)]
    if not found:
        return text
    begin, end = random_.choice(found)
    return text[:begin] + hex(random_.choice(_EXTREMES)) + text[end:]


def _shortened(random_: random.Random, text: str) -> str:
    return text[: random_.randrange(len(text) + 1)]


_TextDamage = Callable[[random.Random, str], str]
_TEXT_DAMAGES: tuple[_TextDamage, ...] = (
    *(_line, _line, _word, _word, _word, _word, _letter, _number, _number, _shortened),
)


def _batch(kind_and_seeds: tuple[str, range]) -> list[Escape]:
    _bound_memory()
    kind, numbers = kind_and_seeds
    return [found for number in numbers if (found := escape_of(kind, number)) is not None]


def _bound_memory() -> None:
    """What takes too much ends in a MemoryError, which is an escape."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = _MOST_BYTES if hard == resource.RLIM_INFINITY else min(_MOST_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def run(count: int, seed: int, disassembled: int = 0) -> Iterator[Escape]:
    """The escapes among `count` inputs, and `disassembled` that the disassembler reads."""
    seeds()  # assembled once, and kept for the processes
    shares = [(kind, KINDS.count(kind) * count // len(KINDS)) for kind in dict.fromkeys(KINDS)]
    batches = [
        (kind, range(start, min(start + _BATCH, seed + share)))
        for kind, share in (*shares, (DISASSEMBLED, disassembled))
        for start in range(seed, seed + share, _BATCH)
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for escapes in pool.map(_batch, batches):
            yield from escapes


def main() -> int:
    """Prints what escaped; the status is 1 when something did."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if not seeds():
        print("no assembler or disassembler: kernelcast tools")  # noqa: T201
        return 0
    found: dict[str, Escape] = {}
    for escape in run(count, seed, count // 20):
        found.setdefault(escape.reason, escape)
    for escape in found.values():
        print(f"{escape.kind} {escape.seed}: {escape.reason}\n")  # noqa: T201
    print(f"{count} damaged cubins, {len(found)} kinds of escapes")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
