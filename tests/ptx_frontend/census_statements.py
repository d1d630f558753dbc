"""One statement, with operands as the PTX manual draws them, for each instruction of a census.

A statement stands alone in the body of a kernel: `kernel_with` writes the rest of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelcast.simcore.isa.types import ScalarType

__all__ = ["call_of", "kernel_with", "statement_for", "target_of"]

_FILE = """.version 9.0
.target {target}
.address_size 64
.const .align 16 .b8 constants[64];
.func callee(.param .b64 x) {{ ret; }}
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,
    .param .b64 e) .noreturn;
.entry k(.param .u64 out, .param .align 16 .b8 pack[64])
{{
.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<140>; .reg .b64 %d<16>;
.shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 barrier;
.local .align 16 .b8 depot[64];
{statements}
DONE: ret;
}}
"""
_LETTERS = {1: "p", 8: "h", 16: "h", 32: "r", 64: "d"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_SOURCES = {
    **dict.fromkeys(("fma", "mad", "madc", "sad", "slct", "prmt"), 3),
    **dict.fromkeys(("add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor"), 2),
    **dict.fromkeys(("set", "copysign", "addc", "subc"), 2),
}
_SPACES = {"shared": "tile", "shared::cta": "tile", "const": "constants", "param": "pack"}
_SPACES["local"] = "depot"
_COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4}
_FLOAT_VALUES = {"f16": "%h3", "f32": "%r3"}

_TEMPLATES = (
    (r"bra.*", "DONE"),
    (r"ret|exit|trap|brkpt|membar.*|fence\.(sc|proxy\.async|mbarrier).*|.*commit_group.*", ""),
    (r"fence.proxy.tensormap.*", "[%d0], 128"),
    (r"wgmma.fence.*|tcgen05.(wait|relinquish).*|barrier.cluster.*", ""),
    (r".*wait_group.*", "0"),
    (r"(bar|barrier).sync", "0"),
    (r"bar.warp.sync", "-1"),
    (r"bar.red.*", "%p0, 0, %p1"),
    (r"setp.*\.pred", "%p0, %p1, %p2"),
    (r"shfl.*", "%r0|%p0, %r1, %r2, 31, -1"),
    (r"vote.*b32", "%r0, %p1, -1"),
    (r"vote.*pred", "%p0, %p1, -1"),
    (r"match.any.*b32", "%r0, %r1, -1"),
    (r"match.any.*b64", "%r0, %d1, -1"),
    (r"redux.*", "%r0, %r1, -1"),
    (r"activemask.*", "%r0"),
    (r"elect.*", "%r0|%p0, -1"),
    (r"nanosleep.*|setmaxnreg.*", "40"),
    (r"prefetch.tensormap", "[%d0]"),
    (r"prefetch.*", "[%d0]"),
    (r"alloca.*", "%d0, 16"),
    (r"dp4a.*|vabsdiff.*|prmt.*", "%r0, %r1, %r2, %r3"),
    (r"lop3.*", "%r0, %r1, %r2, %r3, 0xE8"),
    (r"shf.*", "%r0, %r1, %r2, %r3"),
    (r"bmsk.*", "%r0, %r1, %r2"),
    (r"bfi.b32", "%r0, %r1, %r2, %r3, %r4"),
    (r"bfi.b64", "%d0, %d1, %d2, %r3, %r4"),
    (r"bfe.*", "%r0, %r1, %r2, %r3"),
    (r"(popc|clz).b64", "%r0, %d1"),
    (r"bfind.*", "%r0, %r1"),
    (r"ldmatrix.*x2.*", "{%r0, %r1}, [%d0]"),
    (r"ldmatrix.*x4.*", "{%r0, %r1, %r2, %r3}, [%d0]"),
    (r"stmatrix.*x4.*", "[%d0], {%r0, %r1, %r2, %r3}"),
    (r"mapa.*u32", "%r0, %r1, %r2"),
    (r"cp.async.c[ag].*", "[%r0], [%d0], 16"),
    (r"cp.async.mbarrier.*", "[%r0]"),
    (r"cp.async.bulk.shared.*", "[%r0], [%d0], 16, [%r1]"),
    (r"mbarrier.init.*", "[%r0], 1"),
    (r"mbarrier.inval.*", "[%r0]"),
    (r"mbarrier.expect_tx.*", "[%r0], 16"),
    (r"mbarrier.arrive.expect_tx.*", "_, [%r0], 16"),
    (r"mbarrier.arrive.*", "_, [%r0]"),
    (r"mbarrier.t\w+_wait.parity.*", "%p0, [%r0], %r1"),
    (r"mbarrier.t\w+_wait.*", "%p0, [%r0], %d1"),
    (r"tensormap.cp.*", "[%d0], [%r0], 128"),
    (r"tensormap.replace.tile.(global_address|rank).*b64", "[%r0], %d1"),
    (r"tensormap.replace.tile.rank.*", "[%r0], 2"),
    (r"tensormap.replace.tile.(elemtype|swizzle_mode).*", "[%r0], 1"),
    (r"tensormap.replace.tile.*b64", "[%r0], 0, %d1"),
    (r"tensormap.replace.tile.*", "[%r0], 0, %r1"),
    (r"tcgen05.alloc.*", "[%r0], 64"),
    (r"tcgen05.dealloc.*", "%r0, 64"),
    (r"tcgen05.commit.*", "[%r0]"),
    (r"tcgen05.mma.*", "[%r0], %d1, %d2, %r3, %p0"),
)
_FRAGMENTS = (
    # registers of each operand: "4r 2d" is four of 32 bits, then two of 64
    (r"wmma.mma.*m8n8k4.f64.*", "2d 1d 1d 2d"),
    (r"wmma.mma.*f32.bf16.*|wmma.mma.*tf32.*", "8r 4r 4r 8r"),
    (r"wmma.mma.*s32.u8.*", "8r 2r 2r 8r"),
    (r"wmma.mma.*", "8r 8r 8r 8r"),
    (r"wmma.load.c.*f64", "2d"),
    (r"wmma.load.*f64", "1d"),
    (r"wmma.load.c.*|wmma.load.*\.f16", "8r"),
    (r"wmma.load.*u8", "2r"),
    (r"wmma.load.*", "4r"),
    (r"mma.*m16n8k8.*tf32.*|mma.*m16n8k(16|32).*", "4r 4r 2r 4r"),
)


def kernel_with(statements: Sequence[str], target: str) -> str:
    """A file whose kernel holds the statements, a line each."""
    return _FILE.format(target=target, statements="\n".join(statements))


_CALLS = {
    # the sizes of what a call gives and takes
    "vprintf": ("b32", ("b64", "b64")),
    "malloc": ("b64", ("b64",)),
    "free": ("", ("b64",)),
    "__assertfail": ("", ("b64", "b64", "b32", "b64", "b64")),
}
_INDIRECT = (
    "{ .param .b64 x; st.param.b64 [x], %d0; mov.u64 %d1, callee; "
    "proto: .callprototype () _ (.param .b64 _); call %d1, (x), proto; }"
)


def call_of(name: str) -> str:
    """A call of a function that programs need not define, or by a pointer (`indirect`)."""
    if name == "indirect":
        return _INDIRECT
    result, taken = _CALLS[name]
    names = [f"p{i}" for i in range(len(taken))]
    lines = [f".param .{type_} {p};" for type_, p in zip(taken, names, strict=True)]
    lines += [
        f"st.param.{type_} [{p}], {_register(ScalarType.named(type_), 0)};"
        for type_, p in zip(taken, names, strict=True)
    ]
    given = "(r), " if result else ""
    lines += [f".param .{result} r;"] if result else []
    return f"{{ {' '.join(lines)} call.uni {given}{name}, ({', '.join(names)}); }}"


def target_of(variant: str) -> str:
    """An architecture that has the instruction."""
    return "sm_90a" if variant.startswith("wgmma") else "sm_100a"


def statement_for(variant: str) -> str:
    """Raises LookupError for an instruction that no rule here knows."""
    for pattern, operands in _TEMPLATES:
        if re.fullmatch(pattern, variant):
            return f"{variant} {operands};"
    root = variant.split(".")[0]
    if root == "call":
        return f"{{ .param .b64 x; st.param.b64 [x], %d0; {variant} callee, (x); }}"
    if variant.startswith("st.param"):
        type_ = _types(variant)[-1]
        return f"{{ .param .{type_.ptx_name} x; {variant} [x], {_register(type_, 0)}; }}"
    return f"{variant} {_SPECIAL.get(root, _plain)(variant)};"


def _types(variant: str) -> list[ScalarType]:
    known = {type_.ptx_name: type_ for type_ in ScalarType}
    return [known[part] for part in variant.split(".") if part in known]


def _register(type_: ScalarType, number: int) -> str:
    return f"%{_LETTERS[type_.bits]}{number}"


def _plain(variant: str) -> str:
    """A destination and sources of the last type of the mnemonic."""
    root, types = variant.split(".")[0], _types(variant)
    target, source = types[0], types[-1]
    count = _SOURCES.get(root, 1)
    registers = [_register(source, i + 1) for i in range(count)]
    if "wide" in variant.split("."):
        target = ScalarType.named(f"b{2 * source.bits}")
        registers[2:] = [_register(target, 3)] * (count - 2)
    if root in ("shl", "shr"):
        registers.append("%r2")
    if root == "selp":
        registers += [_register(source, 2), "%p1"]
    if root == "setp":
        return f"%p0, {_register(source, 1)}, {_register(source, 2)}"
    if root == "cvt" and target.is_packed and not source.is_packed:
        registers.append(_register(source, 2))
    return ", ".join((_register(target, 0), *registers))


def _vector(variant: str, type_: ScalarType) -> str:
    counts = [_VECTORS[part] for part in variant.split(".") if part in _VECTORS]
    names = [_register(type_, i) for i in range(counts[0] if counts else 1)]
    return f"{{{', '.join(names)}}}" if counts else names[0]


def _address(variant: str) -> str:
    space = next((part for part in variant.split(".") if part in _SPACES), "")
    return f"[{_SPACES[space]}]" if space else "[%d8]"


def _load(variant: str) -> str:
    return f"{_vector(variant, _types(variant)[-1])}, {_address(variant)}"


def _store(variant: str) -> str:
    return f"{_address(variant)}, {_vector(variant, _types(variant)[-1])}"


def _atomic(variant: str) -> str:
    type_ = _types(variant)[-1]
    values = [_register(type_, i + 1) for i in range(2 if ".cas." in variant else 1)]
    operands = [_address(variant), *values]
    return ", ".join(operands if variant.startswith("red") else [_register(type_, 0), *operands])


def _image_place(variant: str, letter: str) -> str:
    kind = next(part for part in variant.split(".") if part in _COORDINATES)
    names = [f"%{letter}{i + 4}" for i in range(_COORDINATES[kind])]
    return f"[%d0, {{{', '.join(names)}}}]"


def _texture(variant: str) -> str:
    level = ", %r9" if ".level." in variant else ""
    return f"{{%r0, %r1, %r2, %r3}}, {_image_place(variant, 'r')}{level}"


def _surface_load(variant: str) -> str:
    return f"{_vector(variant, _types(variant)[-1])}, {_image_place(variant, 'r')}"


def _surface_store(variant: str) -> str:
    return f"{_image_place(variant, 'r')}, {_vector(variant, _types(variant)[-1])}"


def _fragments(variant: str) -> str:
    counts = next(text for pattern, text in _FRAGMENTS if re.fullmatch(pattern, variant))
    lists, first = [], 0
    for count, letter in re.findall(r"(\d+)(\w)", counts):
        lists.append(f"{{{', '.join(f'%{letter}{first + i}' for i in range(int(count)))}}}")
        first += int(count) if letter == "r" else 1
    return ", ".join(lists)


def _wmma(variant: str) -> str:
    if ".load." in variant:
        return f"{_fragments(variant)}, {_address(variant)}, 16"
    if ".store." in variant:
        return f"{_address(variant)}, {_fragments(variant.replace('store.d', 'load.c'))}, 16"
    return _fragments(variant)


def _wgmma(variant: str) -> str:
    columns = int(re.findall(r"n(\d+)k", variant)[0])
    registers = ", ".join(f"%r{i}" for i in range(columns // 2))
    transposed = ", 0, 0" if "f16" in variant else ""
    return f"{{{registers}}}, %d0, %d1, %p0, 1, 1{transposed}"


def _bulk_tensor(variant: str) -> str:
    rank = int(re.findall(r"\.(\d)d\.", variant)[0])
    tensor = f"[%d0, {{{', '.join(f'%r{i + 2}' for i in range(rank))}}}]"
    if variant.endswith("bulk_group"):
        return f"{tensor}, [%r0]"
    mask = ", %h0" if "multicast" in variant else ""
    policy = ", %d1" if "cache_hint" in variant else ""
    return f"[%r0], {tensor}, [%r1]{mask}{policy}"


def _tensor_memory(variant: str) -> str:
    registers = f"{{{', '.join(f'%r{i}' for i in range(128))}}}"
    return f"[%r128], {registers}" if ".st." in variant else f"{registers}, [%r128]"


_SPECIAL = {
    "ld": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "tex": _texture,
    "suld": _surface_load,
    "sust": _surface_store,
    "wmma": _wmma,
    "mma": _fragments,
    "wgmma": _wgmma,
    "cp": _bulk_tensor,
    "tcgen05": _tensor_memory,
}
