"""Turns Python functions over typed arrays into compiled code, and says how to lay it out."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.ir
import numba
from numba import types
from numba.core import caching, cgutils, compiler, serialize
from numba.extending import intrinsic

from kernelcast.simcore.host.disk_cache import is_kept, read_checked, write_checked

__all__ = ["compiled", "compiled_ufunc", "inlined", "is_compiled", "noinline", "unlikely"]

Function = TypeVar("Function", bound=Callable[..., Any])

_HOST = Path(__file__).resolve().parent
_SIMCORE = _HOST.parent
_FunctionCache: Any = caching.FunctionCache
_CompileResult: Any = compiler.CompileResult
_dumps: Any = serialize.dumps
_vectorize: Any = numba.vectorize


def _room(source: Path) -> Path:
    """The folder of simcore that a source belongs to: whatever is there may change its code."""
    if not source.is_relative_to(_SIMCORE):
        return source.parent
    return _SIMCORE / source.relative_to(_SIMCORE).parts[0]


@cache
def _sources(room: Path) -> str:
    """The start of names of machine code: a digest of all sources of `room` and of `host`.

    numba notices a changed function but not a changed callee or constant in another file, so
    machine code made from other sources must never be found again.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in dict.fromkeys((_HOST, room)):
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.read_bytes())
    return f"compiled-{digest.hexdigest()[:16]}-"


def is_compiled(room: Path | None = None) -> bool:
    """Whether an earlier run left machine code of the folder, by default the memory simulator."""
    return is_kept(_sources((room or _SIMCORE / "memory").resolve()))


class _KeptCode(_FunctionCache):  # type: ignore[misc]  # numba has no types
    """numba's cache of one function, in kernelcast's: numba's own decodes whatever it finds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function
        room = _room(Path(function.__code__.co_filename).resolve())
        self._start = f"{_sources(room)}{function.__qualname__.rpartition('.')[2]}"
        self._place = f"{function.__module__}.{function.__qualname__}"

    @property
    def cache_path(self) -> str:
        return ""

    def flush(self) -> None:
        """Nothing waits."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        name = self._file(sig, target_context.codegen())
        data = read_checked(name)
        if data is None:
            return None
        signature, code = pickle.loads(data)
        if signature != sig:
            return None
        return _CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, data: Any) -> None:
        lifted, code = attrgetter("lifted", "library")(data)
        if lifted or code.has_dynamic_globals:  # addresses of this process
            return
        name = self._file(sig, data.codegen)
        write_checked(name, _dumps((sig, data._reduce())))

    def _file(self, sig: Any, codegen: Any) -> str:
        _, target, code = self._index_key(sig, codegen)
        parts = repr((self._place, str(sig), target, code))
        return f"{self._start}-{hashlib.sha256(parts.encode()).hexdigest()[:32]}.nbc"


def compiled(function: Function) -> Function:
    """Compiled code at the first call, kept on disk; it runs without the GIL.

    Such a function cannot allocate: room is passed in. That makes reference counts needless
    (`_nrt`), and with calls inlined, which would else copy the descriptors of a dozen arrays, the
    simulator is four times as fast. Division by zero is not checked.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options |= {"forceinline": True, "_nrt": False}
    built = numba.njit(**options)(function)
    built._cache = _KeptCode(function)
    return cast(Function, built)


def inlined(function: Function) -> Function:
    """Marks a part of `compiled` functions, which Python code does not call.

    It has no entry of its own, which takes longer to compile than the part.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options |= {"forceinline": True, "_nrt": False}
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(**options)(function))


def noinline(function: Function) -> Function:
    """Compiles a function once instead of at each call, which shortens compilation.

    A call hands over the descriptors of all arrays, and takes as long as a few instructions of a
    kernel.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(**options)(function))


def compiled_ufunc(function: Callable[..., Any], signatures: Sequence[Any]) -> Any:
    """A function of numbers as a ufunc of just these signatures, compiled or loaded at once."""
    built = _vectorize(function)
    built._dispatcher.cache = _KeptCode(function)
    for signature in signatures:
        built.add(signature)
    built.disable_compile()
    return built


def _emit_expect(_typing: Any, _condition: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        truth = llvmlite.ir.IntType(1)
        declare: Any = cgutils.get_or_insert_function
        expect = declare(
            builder.module, llvmlite.ir.FunctionType(truth, (truth, truth)), "llvm.expect.i1"
        )
        return builder.call(expect, (arguments[0], truth(0)))

    return types.boolean(types.boolean), emit


unlikely: Any = intrinsic(_emit_expect)
"""The condition itself, which is false as a rule: what follows if it holds is laid out apart, and
does not take registers from the rest."""
