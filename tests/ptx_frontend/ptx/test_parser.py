"""What the syntax tree holds."""

from __future__ import annotations

import pytest

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import (
    AddressOperand,
    BracketOperand,
    Float,
    Function,
    GroupOperand,
    InstructionStatement,
    Integer,
    LabelledList,
    LabelStatement,
    LocationStatement,
    ModuleSyntax,
    NameOperand,
    NegatedOperand,
    Operand,
    PairOperand,
    PragmaStatement,
    Prototype,
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
        (
            "[t, {%f1, %f2}]",
            BracketOperand(
                (NameOperand("t"), VectorOperand((NameOperand("%f1"), NameOperand("%f2"))))
            ),
        ),
        ("{%f1, _}|%p1", VectorOperand((NameOperand("%f1"), NameOperand("_")), "%p1")),
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


def test_sections_leave_nothing() -> None:
    assert body(".section .debug_info { .b8 1 .b32 .debug_abbrev }") == ()


def test_pragmas_keep_their_text() -> None:
    """`nounroll` says what an assembler makes of the next loop."""
    (pragma,) = body('.pragma "nounroll";')
    assert isinstance(pragma, PragmaStatement)
    assert pragma.text == '"nounroll"'


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
    assert (scalar.type, scalar.count, scalar.pointee) == ("f64", None, None)
    assert (pointer.type, pointer.pointee, pointer.align) == ("u64", "global", None)
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


def statements(text: str) -> list[Statement]:
    return [s for s in body(text) if not isinstance(s, LabelStatement | RegisterDeclaration)]


def test_prototypes_and_lists_of_targets() -> None:
    prototype, branches, calls, bare, _ = body(
        "p0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]);\n"
        "t: .branchtargets L1, L2;\nc: .calltargets f,\n\tg;\n"
        "p1: .callprototype _ .noreturn;\nret;"
    )
    assert isinstance(prototype, Prototype)
    assert (prototype.name, [r.type for r in prototype.results]) == ("p0", ["b32"])
    assert [(p.type, p.count) for p in prototype.parameters] == [("b64", None), ("b8", 16)]
    assert isinstance(branches, LabelledList)
    assert (branches.name, branches.targets, branches.is_calls) == ("t", ("L1", "L2"), False)
    assert isinstance(calls, LabelledList)
    assert (calls.targets, calls.is_calls) == (("f", "g"), True)
    assert isinstance(bare, Prototype)
    assert (bare.results, bare.parameters) == ((), ())


def test_results_linkage_and_aliases_of_functions() -> None:
    found = module(
        ".weak .func (.param .b32 r, .reg .f64 s) f(.reg .b64 a) .noreturn ;\n"
        ".visible .func g() { ret; }\n.alias h, g;\n.common .global .b64 shared_one;\n"
        ".extern .func v(.param .b64 x)\n;\n.func () n () { ret; }"
    )
    functions = {f.name: f for f in found.functions}
    assert [(r.space, r.type) for r in functions["f"].results] == [("param", "b32"), ("reg", "f64")]
    assert [(f.linkage, f.results == ()) for f in found.functions[1:]] == [
        ("visible", True),
        ("extern", True),
        ("", True),
    ]
    assert [(a.name, a.function) for a in found.aliases] == [("h", "g")]
    assert found.variables[0].linkage == "common"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1F", 31),
        ("0X1fU", 31),
        ("017", 15),
        ("0b101", 5),
        ("0B11U", 3),
        ("42U", 42),
        ("0", 0),
        ("-0x10", -16),
        ("!0", None),
        ("089", None),
        ("0b12", None),
        ("0xG", None),
        ("12ab", None),
    ],
)
@pytest.mark.parametrize("shape", ["op {};", "op\n{};"])
def test_integers_of_every_base(text: str, value: int | None, shape: str) -> None:
    """Integers are read on the fast path and, with a line break, on the general one."""
    if value is None:
        with pytest.raises(PtxSyntaxError):
            body(shape.format(text))
        return
    (statement,) = body(shape.format(text))
    assert isinstance(statement, InstructionStatement)
    assert statement.operands == (Integer(value),)


def test_comments_may_stand_between_any_two_tokens() -> None:
    text = "@ ! %p1 mov . u32 %r1 , [ %rd1 + - 8 ] ; { ld .global.v2.f32 { %f1 , %f2 } , [ x ] ; }"
    text = text.replace("mov . u32", "mov .u32")
    expected = body(text)
    for comment in ('/* a; } { " \n b: */', '// ret; } /* " \n', "\n", "\t \r\n"):
        found = body(f" {comment} ".join(text.split(" ")))
        assert without_places(found) == without_places(expected)


def without_places(found: tuple[Statement, ...]) -> list[object]:
    return [
        without_places(s.statements)
        if isinstance(s, Scope)
        else s._replace(at=0, positions=())
        if isinstance(s, InstructionStatement)
        else s
        for s in found
    ]


def test_pragmas_and_sections_stand_anywhere() -> None:
    text = (
        '.pragma "nounroll";\n.pragma "used_bytes_mask 15", "x;";\n'
        ".section\t.debug_abbrev\n{\n.b8 1 // }\n.b32 .debug_info+4\n}\n"
        '.section .debug_str\n{\nname:\n.b8 "}"\n}\n'
    )
    assert all(isinstance(statement, PragmaStatement) for statement in body(text))
    found = module(f"{text}.entry k() {{ {text} ret; }} {text} .section .x {{ }}")
    kinds = [type(statement) for f in found.functions for statement in f.body or ()]
    assert kinds == [PragmaStatement, PragmaStatement, InstructionStatement]


@pytest.mark.parametrize(
    "text",
    [
        ".loc 2 7 3",
        ".loc\t2 7 3, function_name $L__info0, inlined_at 1 10 9",
        ".loc 2 7 3, function_name $L__info0 + 4, inlined_at 1 10 9",
        ".loc 2 7 3 , function_name $L__info0+4 , inlined_at 1 10 9",
        ".loc 2 7 3, inlined_at 1 10 9",
        ".loc\n2 7 /* */ 3,\nfunction_name $L__info0, inlined_at 1 10\n9",
    ],
)
def test_locations(text: str) -> None:
    location, instruction = body(f"{text}\nret;")
    assert isinstance(location, LocationStatement)
    assert (location.file, location.line, location.column) == (2, 7, 3)
    assert isinstance(instruction, InstructionStatement)


def test_initialisers_shorter_than_the_array_and_with_addresses() -> None:
    short, table, scalar = module(
        ".const .align 4 .b8 tab[16] = {1, 0x2, 03};\n"
        ".global .align 8 .u64 vtable[3] = {_Z2h1i, generic(tab) + 4, 0};\n"
        ".global .f32 half = 0f3F000000;"
    ).variables
    assert (short.count, short.initial) == (16, (Integer(1), Integer(2), Integer(3)))
    assert [getattr(s, "name", None) for s in table.initial] == ["_Z2h1i", "tab", None]
    assert scalar.initial == (Float(0.5, 32, 0x3F000000),)


def test_registers_without_a_type_class_and_labels_of_scopes() -> None:
    first, second = statements(
        "{ .reg .b32 t, %u<3>;\nLAB_WAIT: bra LAB_WAIT; } {.reg .b64 t; LAB_WAIT: mov.b64 t, 0;}"
    )
    assert isinstance(first, Scope)
    assert isinstance(second, Scope)
    assert [type(s).__name__ for s in second.statements] == [
        "RegisterDeclaration",
        "LabelStatement",
        "InstructionStatement",
    ]
