"""What is hardly the beginning of a module ends in a KernelcastError."""

from __future__ import annotations

import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.llvm import read_llvm


def outcome(content: bytes, is_text: bool) -> str:
    """`kernels`, or the kind of error; any other exception ends the test."""
    try:
        read_llvm(content, "mutant", is_text)
    except KernelcastError as error:
        return type(error).__name__
    return "kernels"


@pytest.mark.parametrize("content", [b"", b"\0", b"BC\xc0\xde", b"define", b"@", b"!0 = !{"])
def test_beginnings_of_modules(content: bytes) -> None:
    for is_text in (True, False):
        assert outcome(content, is_text) in ("kernels", "IrSyntaxError")
