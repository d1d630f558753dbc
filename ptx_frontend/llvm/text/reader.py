"""Reads a module of LLVM IR in the text form that LLVM prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kernelcast.errors import IrSyntaxError, SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem, ModuleTypes
from kernelcast.ptx_frontend.llvm.text.function_header import is_kernel_line, read_header
from kernelcast.ptx_frontend.llvm.text.syntax import (
    IrBlock,
    IrFunction,
    IrGlobal,
    IrInstruction,
    IrModule,
)
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind, tokens_of, unquoted
from kernelcast.ptx_frontend.llvm.text.types import IrType, VoidType, align_of
from kernelcast.simcore.host.deadline import watched

__all__ = ["IrReader"]

_LABEL = re.compile(r'^("(?:[^"\\]|\\.)*"|[\w$.\-]+):')
_INSTRUCTION = re.compile(
    r'^\s*(?:%(?P<result>"(?:[^"\\]|\\.)*"|[\w$.\-]+) = )?'
    r"(?:(?:tail|musttail|notail) )?(?P<opcode>[a-z]\w*)"
)
_NODE = re.compile(r"^!([\w.\-]+) = (?:distinct )?(.*)$")
_LOCATION = re.compile(r", !dbg !(\d+)")
_TYPE = re.compile(r'^%("(?:[^"\\]|\\.)*"|[\w$.\-]+) = type (.*)$')
_TEXT = re.compile(r'"[^"]*"')
_REFUSED = "kernelcast.refused"
_AMD_TARGET = re.compile(r'^target triple = "amdgcn', re.MULTILINE)
_AMD_SPACES = {0: 4, 1: 1, 2: 102, 3: 3, 4: 2, 5: 0}
"""AMD's numbers (LLVM's AMDGPU usage guide, "Address Spaces") and OpenCL's: generic, global, one
that kernels here have not (GDS), local, constant, private."""
_LINKAGE = (
    *("private", "internal", "available_externally", "linkonce", "weak", "common", "appending"),
    *("extern_weak", "linkonce_odr", "weak_odr", "external", "dso_local", "dso_preemptable"),
    *("default", "hidden", "protected", "dllimport", "dllexport", "thread_local"),
    *("unnamed_addr", "local_unnamed_addr", "externally_initialized"),
)


class IrReader:
    """The module of `text`; `path` stands in messages."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._lines = text.split("\n")
        self._type_texts: dict[str, str] = {}
        self._types: dict[str, IrType] = {}
        self._metadata: dict[str, str] = {}
        self.is_amd = _AMD_TARGET.search(text) is not None
        """Whether the module is for AMD's GPUs."""
        self.types = ModuleTypes(self.named_type, _AMD_SPACES if self.is_amd else {})
        self.problems: dict[str, UnsupportedInstruction] = {}
        """Functions and variables that cannot be used, and why."""
        self.refused_kernels: list[str] = []

    def module(self) -> IrModule:
        """Reads the module, with `problems` that are not supported; IrSyntaxError for no IR."""
        globals_: dict[str, IrGlobal] = {}
        functions: dict[str, IrFunction] = {}
        metadata = self._metadata
        for line in self._lines:
            if match := _TYPE.match(line):
                self._type_texts[match[1].strip('"')] = match[2]
            elif match := _NODE.match(line):
                metadata[match[1]] = match[2]
        self._refuse_narrow_pointers()
        for number, line in watched(enumerate(self._lines, 1), f"reading {self.path}"):
            if line.startswith("@") and (variable := self._global(number, line)):
                globals_[variable.name] = variable
            elif line.startswith("define ") and (function := self._function(number, line)):
                functions[function.name] = function
        return IrModule(globals_, functions, self._types, metadata)

    def span(self, line: int, at: int = 0, length: int = 1) -> SourceSpan:
        """A place in the text; by default the whole line without its indentation."""
        text = self._lines[line - 1]
        if at == 0 and length == 1:
            at = len(text) - len(text.lstrip())
            length = len(text) - at
        return SourceSpan(self.path, line, at + 1, length, text)

    def named_type(self, name: str) -> IrType | None:
        """A type that the module gives a name."""
        if name not in self._types:
            text = self._type_texts.get(name)
            if text is None:
                return None
            is_opaque = text == "opaque"
            made = VoidType(f"%{name}") if is_opaque else self._cursor(text).type()
            self._types[name] = made
        return self._types[name]

    def error(self, problem: IrProblem, line: int) -> IrSyntaxError | UnsupportedInstruction:
        """The problem as an error with its place."""
        kind = UnsupportedInstruction if problem.is_unsupported else IrSyntaxError
        return kind(problem.reason, self.span(line))

    def _cursor(self, text: str) -> Cursor:
        try:
            return Cursor(tokens_of(text), self.types)
        except ValueError as error:
            raise IrProblem(str(error), False) from None

    def _refuse_narrow_pointers(self) -> None:
        for number, line in enumerate(self._lines, 1):
            if line.startswith("target triple") and '"spir-' in line.replace("spir32", "spir"):
                raise UnsupportedInstruction(
                    "pointers of 32 bits are not supported: compile for spir64", self.span(number)
                )
            if line.startswith("target datalayout") and re.search(r"[\"-]p:32", line):
                raise UnsupportedInstruction(
                    "pointers of 32 bits are not supported: compile for spir64", self.span(number)
                )

    def _global(self, number: int, line: str) -> IrGlobal | None:
        name = ""
        try:
            cursor = self._cursor(line)
            name = cursor.name()
            cursor.expect("=")
            cursor.skip_words(*_LINKAGE)
            space = cursor.address_space()
            cursor.skip_words(*_LINKAGE)
            if not cursor.accept("global", "constant"):
                raise IrProblem(f"{cursor.peek().text} @{name} is not supported")
            type_ = cursor.type()
            initial, align = [], align_of(type_)
            depth = 0
            while not cursor.at_end:
                token = cursor.take()
                if token.kind is TokenKind.PUNCTUATION:
                    depth += {"(": 1, "[": 1, "{": 1, "<": 1}.get(token.text, 0)
                    depth -= {")": 1, "]": 1, "}": 1, ">": 1}.get(token.text, 0)
                if depth == 0 and token.text == "," and token.kind is TokenKind.PUNCTUATION:
                    break
                initial.append(token)
            while not cursor.at_end:
                if cursor.take().text == "align":
                    align = cursor.integer()
                    break
            return IrGlobal(name, number, space, type_, align, tuple(initial))
        except IrProblem as problem:
            self._refuse(name, problem, number)
            return None

    def _refuse(self, name: str, problem: IrProblem, number: int) -> None:
        error = self.error(problem, number)
        if isinstance(error, IrSyntaxError) or not name:
            raise error
        self.problems[name] = error

    def _function(self, number: int, line: str) -> IrFunction | None:
        name = ""
        try:
            header = read_header(self._cursor(line), number)
            name = header.name
            header.check()
            self._check_attachment(header.attachments)
            blocks = tuple(self._blocks(number, header.first_label))
            return header.function(blocks)
        except IrProblem as problem:
            name = name or line.partition("@")[2].partition("(")[0].strip('"')
            if is_kernel_line(line):
                self.refused_kernels.append(name)
            self._refuse(name, problem, number)
            return None

    def _check_attachment(self, attachments: Mapping[str, str]) -> None:
        """Raises IrProblem, with the reason, for a function that another reader could not write."""
        reason = _TEXT.search(self._metadata.get(attachments.get(_REFUSED, ""), ""))
        if reason is not None:
            raise IrProblem(unquoted(reason[0]).decode("utf-8", "replace"))

    def _blocks(self, number: int, label: str) -> Iterator[IrBlock]:
        instructions: list[IrInstruction] = []
        is_first = True
        line_number = number
        while True:
            line_number += 1
            if line_number > len(self._lines):
                raise IrProblem("the function does not end", False)
            line = self._lines[line_number - 1]
            if line.startswith("}"):
                yield IrBlock(label, tuple(instructions))
                return
            if match := _LABEL.match(line):
                if instructions or not is_first:
                    yield IrBlock(label, tuple(instructions))
                label, instructions = match[1].strip('"'), []
                is_first = False
            elif line.strip() and not line.lstrip().startswith((";", "#dbg_")):
                text = line
                last = line_number
                while text.count("[") > text.count("]") and last < len(self._lines):
                    last += 1
                    text += "\n" + self._lines[last - 1]
                instructions.append(self._instruction(line_number, text))
                line_number = last
                is_first = False

    def _instruction(self, number: int, text: str) -> IrInstruction:
        match = _INSTRUCTION.match(text)
        if match is None:
            raise IrProblem(f"no instruction: {text.strip()!r}", False)
        location = _LOCATION.search(text)
        return IrInstruction(
            number,
            text,
            (match["result"] or "").strip('"'),
            match["opcode"],
            location[1] if location else "",
            match.end(),
        )
