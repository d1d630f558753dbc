"""What the syntax tree holds."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend.parser import parse
from kernelcast.ptx_frontend.source import SourceText
from kernelcast.ptx_frontend.syntax import (
    AddressOperand,
    Float,
    Function,
    GroupOperand,
    InstructionStatement,
    Integer,
    LabelStatement,
    LocationStatement,
    ModuleSyntax,
    NameOperand,
    NegatedOperand,
    Operand,
    OtherOperand,
    PairOperand,
    RegisterDeclaration,
    Scope,
    Statement,
    SumOperand,
    SymbolReference,
    VectorOperand,
)

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"


def module(text: str) -> ModuleSyntax:
    return parse(SourceText("t.ptx", HEADER + text))


def body(text: str) -> tuple[Statement, ...]:
    found = module(f".entry k() {{ {text} }}").functions[0].body
    assert found is not None
    return found


def operands(text: str) -> tuple[Operand, ...]:
    statement = body(f"op {text};")[0]
    assert isinstance(statement, InstructionStatement)
    return statement.operands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1", NameOperand("%r1")),
        ("5", Integer(5)),
        ("-5", Integer(-5)),
        ("WARP_SZ", Integer(32)),
        ("WARP_SZ*2", Integer(64)),
        ("(3+4)*2", Integer(14)),
        ("1.5", Float(1.5, 0)),
        ("0f40000000", Float(2.0, 32, 0x40000000)),
        ("!%p1", NegatedOperand("%p1")),
        ("%p1|%p2", PairOperand("%p1", "%p2")),
        ("table+4", SumOperand("table", 4)),
        ("{%r1, _}", VectorOperand((NameOperand("%r1"), NameOperand("_")))),
        ("{ %r1 }", VectorOperand((NameOperand("%r1"),))),
        ("(%r1, x)", GroupOperand((NameOperand("%r1"), NameOperand("x")))),
        ("()", GroupOperand(())),
        ("[%rd1]", AddressOperand("%rd1", 0)),
        ("[%rd1+8]", AddressOperand("%rd1", 8)),
        ("[%rd1+-8]", AddressOperand("%rd1", -8)),
        ("[%rd1+4*3]", AddressOperand("%rd1", 12)),
        ("[ %rd1 + 0 ]", AddressOperand("%rd1", 0)),
        ("[x+0x10]", AddressOperand("x", 16)),
        ("[16]", AddressOperand(None, 16)),
        ("[t, {%f1, %f2}]", OtherOperand("[t, {%f1, %f2}]")),
    ],
)
def test_operands(text: str, expected: Operand) -> None:
    assert operands(text) == (expected,)
    assert operands(f"%r9, {text}, {text}") == (NameOperand("%r9"), expected, expected)


def test_instruction_with_guard_and_positions() -> None:
    text = "@!%p2 add.s32 %r1, %r2, 7;"
    statement = body(text)[0]
    assert isinstance(statement, InstructionStatement)
    assert (statement.guard, statement.guard_negated) == ("%p2", True)
    assert [p - statement.at for p in statement.positions] == [
        text.index(operand) for operand in ("%r1", "%r2", "7")
    ]


def test_mnemonic_in_parts() -> None:
    (statement,) = body("ld .global .u32 %r1, [%rd1];")
    assert isinstance(statement, InstructionStatement)
    assert statement.mnemonic == "ld.global.u32"


def test_scopes_and_several_statements_on_a_line() -> None:
    outer = body("{ .reg .b32 t; mov.u32 t, 5; LOOP: bra LOOP; }; ret;")
    scope, last = outer
    assert isinstance(scope, Scope)
    assert [type(s) for s in scope.statements] == [
        RegisterDeclaration,
        InstructionStatement,
        LabelStatement,
        InstructionStatement,
    ]
    assert isinstance(last, InstructionStatement)


def test_registers() -> None:
    (declared,) = body(".reg .b32 a, %r<5>;")
    assert isinstance(declared, RegisterDeclaration)
    assert (declared.type, declared.names) == ("b32", (("a", None), ("%r", 5)))


def test_location_with_inlining() -> None:
    (location,) = body(".loc 2 7 3, function_name $L__info0 + 4, inlined_at 1 10 9")
    assert isinstance(location, LocationStatement)
    assert (location.file, location.line, location.column) == (2, 7, 3)


@pytest.mark.parametrize(
    "text",
    [
        '.pragma "nounroll";',
        ".section .debug_info { .b8 1 .b32 .debug_abbrev }",
        "p0 : .callprototype (.param .b32 _) _ (.param .b64 _);",
    ],
)
def test_what_has_no_meaning_here_leaves_nothing(text: str) -> None:
    assert body(text) == ()


def test_variables() -> None:
    found = module(
        ".visible .global .align 8 .u64 p[2] = {generic(x)+4, y};\n"
        ".const .b8 c[2][3] = {{1, 2}, {3}};\n"
        ".extern .shared .align 16 .b8 pool[];\n"
        ".global .f32 a, b = 0f3F800000;\n"
        ".global .v4 .f32 quad;\n"
        ".global .b8 bytes[8] = {0xFF(x), 0xFF00(x)};"
    ).variables
    pointers, constants, pool, a, b, quad, masked = found
    assert [
        (s.name, s.addend, s.generic) for s in pointers.initial if isinstance(s, SymbolReference)
    ] == [
        ("x", 4, True),
        ("y", 0, False),
    ]
    assert (pointers.align, pointers.count, pointers.linkage) == (8, 2, "visible")
    assert (constants.count, constants.initial) == (6, (Integer(1), Integer(2), Integer(3)))
    assert (pool.linkage, pool.count) == ("extern", 0)
    assert (a.name, a.count, b.name, b.initial) == ("a", None, "b", (Float(1.0, 32, 0x3F800000),))
    assert quad.count == 4
    assert [s.mask for s in masked.initial if isinstance(s, SymbolReference)] == [0xFF, 0xFF00]


def entry(text: str) -> Function:
    return module(text).functions[0]


def test_parameters() -> None:
    scalar, pointer, struct = entry(
        ".entry k(.param .f64 x, .param .u64 .ptr .global .align 16 p,.param .align 8 .b8 s[48]) {}"
    ).parameters
    assert (scalar.type, scalar.count, scalar.is_pointer) == ("f64", None, False)
    assert (pointer.type, pointer.is_pointer, pointer.align) == ("u64", True, None)
    assert (struct.type, struct.count, struct.align) == ("b8", 48, 8)


def test_performance_directives() -> None:
    found = entry(
        ".entry k() .maxntid 256, 2 .reqntid 128 .minnctapersm 2 .maxnreg 40 .noreturn {}"
    ).performance
    assert found.max_threads == (256, 2, 1)
    assert found.required_threads == (128, 1, 1)
    assert found.max_registers == 40


def test_functions_with_results_and_declarations() -> None:
    found = module(
        ".extern .func (.param .b32 r) f(.param .b64 a);\n"
        ".func g() { ret; }\n"
        ".weak .entry k { ret; }"
    ).functions
    assert [(f.name, f.is_entry, f.body is not None) for f in found] == [
        ("f", False, False),
        ("g", False, True),
        ("k", True, True),
    ]


def test_module_directives() -> None:
    found = parse(
        SourceText(
            "t.ptx", '.version 9.0\n.target sm_90, debug\n.address_size 64\n.file 3 "a.cu", 1, 2\n'
        )
    )
    assert (found.version, found.target, found.address_size) == ("9.0", "sm_90", 64)
    assert [(f.index, f.path) for f in found.files] == [(3, "a.cu")]
