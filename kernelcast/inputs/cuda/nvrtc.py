"""One call of NVRTC, the compiler that NVIDIA ships as a library (NVRTC documentation, 13.0)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kernelcast.inputs.cuda.nvrtc_library import load_nvrtc

__all__ = ["NvrtcFailure", "NvrtcResult", "nvrtc_compile", "nvrtc_version"]


@dataclass(frozen=True, slots=True)
class NvrtcResult:
    """`names`: the symbol of each name expression, `scale<float>` -> `_Z5scaleIfEvPT_`."""

    ptx: str
    names: Mapping[str, str]


class NvrtcFailure(Exception):
    """What NVRTC refused; `log` is what it printed."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__(reason)
        self.log = log


def nvrtc_version() -> tuple[int, int]:
    """(major, minor) of the library that is found."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(load_nvrtc().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


def nvrtc_compile(
    source: bytes,
    name: str,
    options: Sequence[str],
    expressions: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> NvrtcResult:
    """`name` stands in messages; `headers` are included by name. Raises NvrtcFailure."""
    library = load_nvrtc()
    with _program(library, source, name, headers or {}) as program:
        for expression in expressions:
            _check(library.nvrtcAddNameExpression(program, expression.encode()))
        status = library.nvrtcCompileProgram(program, len(options), _texts(options))
        if status:
            log = _text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
            raise NvrtcFailure(_reason(status), log)
        ptx = _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
        return NvrtcResult(ptx, {item: _symbol(library, program, item) for item in expressions})


@contextmanager
def _program(
    library: ctypes.CDLL, source: bytes, name: str, headers: Mapping[str, str]
) -> Iterator[ctypes.c_void_p]:
    program = ctypes.c_void_p()
    status = library.nvrtcCreateProgram(
        ctypes.byref(program),
        source,
        name.encode(),
        len(headers),
        _texts(tuple(headers.values())),
        _texts(tuple(headers)),
    )
    _check(status)
    try:
        yield program
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _symbol(library: ctypes.CDLL, program: ctypes.c_void_p, expression: str) -> str:
    found = ctypes.c_char_p()
    _check(library.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(found)))
    return (found.value or b"").decode()


def _text(size_of: ctypes._NamedFuncPointer, get: ctypes._NamedFuncPointer, program: object) -> str:
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(get(program, buffer))
    return buffer.value.decode("utf-8", "replace")


def _texts(items: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(items))(*(item.encode() for item in items))


def _check(status: int) -> None:
    if status:
        raise NvrtcFailure(_reason(status), "")


def _reason(status: int) -> str:
    describe = load_nvrtc().nvrtcGetErrorString
    describe.restype = ctypes.c_char_p
    text: bytes = describe(status)
    return text.decode()
