"""No function takes more parameters than a reader can hold; records of many facts take keywords."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from kernelcast.cli import app
from kernelcast.simcore.device.device import CacheFacts

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    *("kernelcast", "models", "opencl_bench", "ptx_frontend", "simcore", "traces"),
    *("benchmarks", "examples", "validation"),
)
MOST = 8
BY_KEYWORD = ("CacheFacts", "CacheState")

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


# The links kernelcast/simcore, ... lead to folders that are visited by themselves.
SOURCES = sorted(
    file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if file.resolve() == file
)


def commands(application: typer.Typer) -> Iterator[str]:
    """The file and name of every function that the command line calls.

    typer makes an option of each of its parameters.
    """
    for command in application.registered_commands:
        assert command.callback is not None
        function = inspect.unwrap(command.callback)
        yield f"{Path(inspect.getfile(function)).resolve()} {function.__name__}"
    for group in application.registered_groups:
        assert group.typer_instance is not None
        yield from commands(group.typer_instance)


def parameters(function: Function) -> int:
    """`self` and `cls` do not count, `*args` and `**kwargs` one each."""
    given = function.args
    ordered = [*given.posonlyargs, *given.args]
    is_bound = bool(ordered) and ordered[0].arg in ("self", "cls")
    catching = sum(item is not None for item in (given.vararg, given.kwarg))
    return len(ordered) - is_bound + len(given.kwonlyargs) + catching


def is_kernel(node: Function) -> bool:
    """Whether Triton compiles it: kernels get their arguments one by one."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return any(ast.unparse(item) == "triton.jit" for item in decorators)


def functions(text: str) -> Iterator[tuple[str, Function]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function) and not is_kernel(node):
            yield getattr(node, "name", "lambda"), node


def test_parameters_of_functions() -> None:
    excepted = set(commands(app))
    many = [
        f"{file.relative_to(ROOT)}:{function.lineno} {name} takes {parameters(function)}"
        for file in SOURCES
        for name, function in functions(file.read_text(encoding="utf-8"))
        if parameters(function) > MOST and f"{file} {name}" not in excepted
    ]
    assert not many


def test_records_of_many_facts_are_made_by_keyword() -> None:
    assert all(field.kw_only for field in fields(CacheFacts))
    positional = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in BY_KEYWORD
        and node.args
    ]
    assert not positional


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("def f(a, b, /, c, *, d): ...", 4),
        ("def f(self, a, *args, b, **rest): ...", 4),
        ("async def f(cls): ...", 0),
        ("lambda a, b: a", 2),
    ],
)
def test_the_count_is_that_of_python(text: str, count: int) -> None:
    ((_, function),) = functions(text)
    assert parameters(function) == count


def test_exceptions_are_the_functions_of_commands() -> None:
    names = {line.split()[-1] for line in commands(app)}
    assert {"estimate", "validate", "record_trace", "bench"} <= names
    assert "bundled" not in names
