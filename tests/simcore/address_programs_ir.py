"""Random addresses as LLVM IR: `address_programs` says what a module is."""

from __future__ import annotations

import random

from tests.simcore.address_programs import WORDS, Program, Step, numbers

__all__ = ["ir_module"]

_SPACES = {"a": 1, "b": 1, "c": 1, "shared": 3, "const": 2, "generic b": 4, "generic a": 4}
_STARTS = {"shared": "@tile", "const": "@fixed"}
_BYTES = 1040, 528


def ir_module(choose: random.Random, count: int) -> tuple[str, tuple[Program, ...]]:
    """The text, and its programs."""
    programs = tuple(_program(choose, number) for number in range(count))
    cases = " ".join(f"i64 {n}, label %P{n}" for n in range(count))
    words = "\n".join(
        f"  %q{i} = getelementptr i64, ptr addrspace(1) %row, i64 {i}\n"
        f"  %w{i} = load i64, ptr addrspace(1) %q{i}"
        for i in range(WORDS)
    )
    shared, constant = _BYTES
    content = ", ".join(f"i8 {3 * n % 256 - 256 * (3 * n % 256 > 127)}" for n in range(constant))
    sums = ", ".join(f"[ %v{n}, %{_last(p)} ]" for n, p in enumerate(programs))
    text = f"""target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func i64 @_Z12get_group_idj(i32)
declare spir_func i64 @_Z13get_global_idj(i32)
@tile = internal addrspace(3) global [{shared} x i8] undef, align 16
@fixed = internal addrspace(2) constant [{constant} x i8] [{content}], align 16
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c,
    ptr addrspace(1) %table, ptr addrspace(1) %out) {{
entry:
  %lane = call spir_func i64 @_Z12get_local_idj(i32 0)
  %group = call spir_func i64 @_Z12get_group_idj(i32 0)
  %n = call spir_func i64 @_Z13get_global_idj(i32 0)
  %row.at = mul i64 %group, {8 * WORDS}
  %row = getelementptr i8, ptr addrspace(1) %table, i64 %row.at
{words}
  switch i64 %w0, label %end [ {cases} ]
{"".join(program.text for program in programs)}
end:
  %sum = phi i64 [ 0, %entry ], {sums}
  %place = getelementptr i64, ptr addrspace(1) %out, i64 %n
  store i64 %sum, ptr addrspace(1) %place
  ret void
}}
"""
    return text, programs


def _last(program: Program) -> str:
    """The label of the last basic block."""
    return [line[:-1] for line in program.text.split("\n") if line.endswith(":")][-1]


def _program(choose: random.Random, number: int) -> Program:
    place = choose.choice(tuple(_SPACES))
    space, size = _SPACES[place], choose.choice((1, 2, 4, 8))
    if place == "c":
        size = choose.choice((4, 8))
    stride = choose.choice((0, size, size, 2 * size, numbers(choose) // size * size))
    first = choose.choice((0, size, numbers(choose) // size * size))
    offsets = [first]
    for _ in range(choose.randrange(4)):
        near = first + size * choose.randrange(4)
        offsets.append(choose.choice((near, near, near, numbers(choose))))
    offsets = [(o + (1 << 63)) % (1 << 64) - (1 << 63) for o in offsets]
    pointer = f"ptr addrspace({space})"
    start, lines = _STARTS.get(place, f"%{place[-1]}"), [f"P{number}:"]
    if space == 4:
        lines.append(f"  %s{number} = addrspacecast ptr addrspace(1) {start} to {pointer}")
        start = f"%s{number}"
    most = choose.choice((1, 2, 8, 99) if abs(stride) <= 16 else (1, 1, 1, 2))
    lines += [
        f"  %l{number} = mul i64 %lane, {stride}",
        f"  %d{number} = add i64 %l{number}, %w1",
        f"  %p{number} = getelementptr i8, {pointer} {start}, i64 %d{number}",
        f"  %g{number} = icmp ult i64 %lane, {most}",
        f"  br i1 %g{number}, label %I{number}, label %J{number}",
        f"I{number}:",
    ]
    total = "0"
    for index, offset in enumerate(offsets):
        name = f"{number}.{index}"
        lines.append(f"  %o{name} = getelementptr i8, {pointer} %p{number}, i64 {offset}")
        lines += _access(place, f"{pointer} %o{name}", name, size, total)
        total = f"%t{name}"
    lines += [
        f"  br label %J{number}",
        f"J{number}:",
        f"  %v{number} = phi i64 [ 0, %P{number} ], [ {total}, %I{number} ]",
        "  br label %end\n",
    ]
    return Program("\n".join(lines), (Step(place, 1, tuple(offsets), size),))


def _access(place: str, pointer: str, name: str, size: int, total: str) -> list[str]:
    """Loads are summed up."""
    kind = f"i{8 * size}"
    if place.endswith("b"):
        alike = int.from_bytes(b"\x5a" * size, "little")  # so that no store's order matters
        stored = f"  store {kind} {alike}, {pointer}, align {size}"
        return [stored, f"  %t{name} = add i64 {total}, 0"]
    if place == "c":
        added = f"  %x{name} = atomicrmw add {pointer}, {kind} 3 monotonic"
        return [added, f"  %t{name} = add i64 {total}, 0"]
    lines = [f"  %x{name} = load {kind}, {pointer}, align {size}"]
    wide = f"%x{name}"
    if size < 8:
        lines.append(f"  %y{name} = zext {kind} %x{name} to i64")
        wide = f"%y{name}"
    return [*lines, f"  %t{name} = add i64 {total}, {wide}"]
