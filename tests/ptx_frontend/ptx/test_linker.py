"""Several PTX texts as one: what belongs to each, and what they share."""

from __future__ import annotations

import pytest

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend.ptx.text.linker import linked
from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import ModuleSyntax


def module(body: str, version: str = "7.0", target: str = "sm_75") -> str:
    return f".version {version}\n.target {target}\n.address_size 64\n{body}\n"


def parsed(*bodies: str) -> ModuleSyntax:
    return parse(SourceText("linked", linked([module(body) for body in bodies])))


def test_one_text_stays_as_it_is() -> None:
    text = module(".visible .entry k() { ret; }")
    assert linked([text]) == text


def test_the_newest_version_and_target_count() -> None:
    texts = [
        module(".visible .entry a() { ret; }", "7.8", "sm_80"),
        module(".visible .entry b() { ret; }", "7.10", "sm_75, debug"),
    ]
    found = parse(SourceText("linked", linked(texts)))
    assert (found.version, found.target) == ("7.10", "sm_80")
    assert [function.name for function in found.functions] == ["a", "b"]


def test_names_of_one_module_do_not_meet_those_of_another() -> None:
    own = ".global .align 4 .u32 x = 1;\n"
    own += ".visible .entry {}() {{ .reg .b32 %r<2>; ld.global.u32 %r1, [x]; }}"
    found = parsed(own.format("a"), own.format("b"))
    assert [variable.name for variable in found.variables] == ["x$input1", "x$input2"]


def test_what_is_visible_keeps_its_name() -> None:
    found = parsed(
        ".extern .global .align 4 .u32 x;\n.extern .func f();",
        ".visible .global .align 4 .u32 x = 1;\n.visible .func f() { ret; }",
    )
    assert {variable.name for variable in found.variables} == {"x"}
    assert {function.name for function in found.functions} == {"f"}


def test_weak_functions_may_be_defined_several_times() -> None:
    weak = ".weak .func f() { ret; }\n"
    found = parsed(weak, weak)
    assert [function.name for function in found.functions] == ["f", "f$input2"]


def test_mnemonics_are_no_names() -> None:
    own = ".func add() {{ ret; }}\n.visible .entry {}() {{ .reg .b32 %r<2>; add.u32 %r1, %r1, 1; }}"
    assert linked([module(own.format("a")), module(own.format("b"))]).count("add.u32") == 2


def test_what_is_no_ptx_is_refused() -> None:
    with pytest.raises(PtxSyntaxError, match="input 2"):
        linked([module(""), "nothing"])
