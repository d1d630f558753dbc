"""Turns Python functions over typed arrays into compiled code, and says how to lay it out.

Code that is there already (`ready_code`) is loaded without numba, which takes half a second to
import; other code is compiled by numba at its first call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

from kernelcast.simcore.host.llvm import CompiledModule, common_processor, load_object
from kernelcast.simcore.host.machine_words import ResultReader, layout_of
from kernelcast.simcore.host.ready_code import ENTRY, find_code, is_ready, keep_code

__all__ = [
    "bound",
    "bound_together",
    "compiled",
    "inlined",
    "intrinsic",
    "is_compiled",
    "noinline",
    "unlikely",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)


class _Part:
    """A Python function that compiled code calls; numba knows it when it compiles such code."""

    def __init__(self, function: Callable[..., Any], *, is_inlined: bool) -> None:
        update_wrapper(self, function)
        self._function = function
        self._is_inlined = is_inlined

    @cached_property
    def dispatcher(self) -> Any:
        """What compiles it."""
        from kernelcast.simcore.host.numba_code import dispatcher_of

        return dispatcher_of(self._function, _OPTIONS | {"forceinline": self._is_inlined})

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __call__(self, *_arguments: Any) -> Any:
        raise TypeError(f"{self._function.__qualname__} is a part of compiled functions only")


class _Compiled(_Part):
    """A function that Python code calls, too: code for each layout of arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, is_inlined=True)
        self._loaded: dict[str, _Loaded] = {}

    def __call__(self, *arguments: Any) -> Any:
        layout, words = layout_of(arguments)
        return self.loaded(layout, arguments).call(words.packed())

    def loaded(self, layout: str, arguments: Sequence[Any]) -> _Loaded:
        """The code for arguments of a layout."""
        found = self._loaded.get(layout)
        if found is None:
            found = self._loaded[layout] = self._load(layout, arguments)
        return found

    def _load(self, layout: str, arguments: Sequence[Any]) -> _Loaded:
        processor = common_processor()
        found = find_code(self._function, layout, processor)
        if found is None:
            from kernelcast.simcore.host.numba_code import make_code

            found = make_code(self.dispatcher, arguments, processor)
            keep_code(self._function, layout, processor, found)
        reader = ResultReader(found.results, found.is_tuple)
        return _Loaded(self._function.__qualname__, load_object(found.code), reader)


class _Loaded:
    """Code in memory for arguments of one layout."""

    def __init__(self, name: str, module: CompiledModule, reader: ResultReader) -> None:
        self._module = module  # the code lives as long
        self._entry = _NATIVE(module.address(ENTRY))
        self._name, self._reader = name, reader

    def call(self, words: bytes) -> Any:
        """What the code returns, which runs without the GIL; RuntimeError where it raises."""
        results = self._reader.room()
        if self._entry(words, results):
            raise RuntimeError(f"{self._name} raised an exception")
        return self._reader.read(results)


class _Known:
    """Arguments that are made into words once; their arrays live as long."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.layout, words = layout_of(arguments)
        self.words = words.packed()


class _Bound:
    """A compiled function whose last arguments are known."""

    def __init__(self, function: _Compiled, last: _Known) -> None:
        self._function = function
        self._last = last

    def __call__(self, *first: Any) -> Any:
        layout, words = layout_of(first)
        all_of_them = f"{layout};{self._last.layout}" if first else self._last.layout
        loaded = self._function.loaded(all_of_them, (*first, *self._last.arguments))
        return loaded.call(words.packed() + self._last.words)


def compiled(function: Function) -> Function:
    """Compiled code at the first call, kept on disk; it runs without the GIL.

    Such a function cannot allocate: room is passed in. That makes reference counts needless
    (`_nrt`), and with calls inlined, which would else copy the descriptors of a dozen arrays, the
    simulator is four times as fast. Division by zero is not checked. It takes numbers, arrays and
    tuples of them and returns a number, a tuple of numbers or None.
    """
    return cast(Function, _Compiled(function))


def bound(function: Callable[..., Result], *last: Any) -> Callable[..., Result]:
    """A `compiled` function with its last arguments, which are made into words once.

    A hundred arrays take 0.2 ms. They must not be resized.
    """
    return bound_together((function,), *last)[0]


def bound_together(
    functions: Sequence[Callable[..., Result]], *last: Any
) -> tuple[Callable[..., Result], ...]:
    """Several functions as of `bound`, whose last arguments are made into words once for all."""
    known = _Known(last)
    return tuple(
        cast("Callable[..., Result]", _Bound(cast(_Compiled, function), known))
        for function in functions
    )


def inlined(function: Function) -> Function:
    """Marks a part of `compiled` functions, which Python code does not call."""
    return cast(Function, _Part(function, is_inlined=True))


def noinline(function: Function) -> Function:
    """Compiles a function once instead of at each call, which shortens compilation.

    A call hands over the descriptors of all arrays, and takes as long as a few instructions of a
    kernel.
    """
    return cast(Function, _Part(function, is_inlined=False))


class _Operation:
    """An operation of compiled code that is written in LLVM's IR."""

    def __init__(self, typing: Callable[..., Any]) -> None:
        self._typing = typing

    @cached_property
    def _numba_type_(self) -> Any:
        from kernelcast.simcore.host.numba_code import intrinsic_type

        return intrinsic_type(self._typing)


def intrinsic(typing: Callable[..., Any]) -> Any:
    """An operation whose types and IR `typing` tells, as that of `numba.extending.intrinsic`."""
    return _Operation(typing)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether there is code of a `compiled` function for some arguments."""
    return is_ready(cast(Any, function)._function, common_processor())


def _emit_expect(_typing: Any, _condition: Any) -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        truth = ir.IntType(1)
        declare: Any = cgutils.get_or_insert_function
        expect = declare(builder.module, ir.FunctionType(truth, (truth, truth)), "llvm.expect.i1")
        return builder.call(expect, (arguments[0], truth(0)))

    return types.boolean(types.boolean), emit


unlikely: Any = intrinsic(_emit_expect)
"""The condition itself, which is false as a rule: what follows if it holds is laid out apart, and
does not take registers from the rest."""
