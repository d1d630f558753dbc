"""Parameters as sources name them, beside what workloads of the suite say of these kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.inputs.signatures import NamedParameter, signature_of_symbol, signatures
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.arguments import ArgumentSpec
from kernelcast.workload.file import load_workload

SOURCES = [
    (file, source)
    for file in sorted(SUITE.glob("*/*.toml"))
    for source in sorted(file.parent.glob(f"{load_workload(file).kernel.source.stem}.c[ul]"))
]


@pytest.mark.parametrize(
    ("file", "source"), SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_types_are_those_that_workloads_give(file: Path, source: Path) -> None:
    """The PTX of a workload was compiled from the source beside it; its author wrote the types."""
    workload = load_workload(file)
    text, name = source.read_text(), source_name(workload.load_kernel().kernel.name)
    parameters = signatures(text).get(name)
    if parameters is None:  # a macro defines the kernel, or the source has others
        assert f" {name}(" not in text
        return
    if len(parameters) == 1 and f"#define {parameters[0].name}" in text:
        return
    assert len(parameters) == len(workload.arguments)
    for parameter, argument in zip(parameters, workload.arguments, strict=True):
        if isinstance(argument, ArgumentSpec) and argument.element and parameter.type:
            assert parameter.is_pointer == (argument.shape is not None)
            assert parameter.type[1:] == argument.element.name[1:]


def test_declarators() -> None:
    found = signatures(
        "__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void f("
        "__global const float4 *restrict x, __local int part[], const unsigned long n,"
        "unsigned short int z, Pair s, half h) {}\n"
        "namespace a { template <typename T, int N> __global__ __launch_bounds__(256, 2)\n"
        "void g(const T *a, std::size_t count = 3, std::pair<int, int> p = {1, 2}) {} }\n"
        "__global__ void e(void) {} void host(int x) {} __global__ void declared(int x);"
    )
    assert found == {
        "f": (
            NamedParameter("x", "f32", 4, is_pointer=True, is_const=True),
            NamedParameter("part", "s32", is_pointer=True),
            NamedParameter("n", "u64", is_const=True),
            NamedParameter("z", "u16"),
            NamedParameter("s", ""),
            NamedParameter("h", "f16"),
        ),
        "g": (
            NamedParameter("a", "", is_pointer=True, is_const=True),
            NamedParameter("count", "u64"),
            NamedParameter("p", ""),
        ),
        "e": (),
    }
    assert signatures("__global__ void f(int x) { } }") == {}


def test_symbols_tell_types() -> None:
    assert signature_of_symbol("_Z4addkILi256EEvPKfm") == (
        NamedParameter("", "f32", is_pointer=True, is_const=True),
        NamedParameter("", "u64"),
    )
    assert signature_of_symbol("plain") == ()
