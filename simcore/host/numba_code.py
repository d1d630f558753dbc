"""Object code of a Python function for arguments of some types, by numba; only this imports it.

The code has one entry, which takes and gives words (`machine_words`) and needs nothing of Python or
numba: it can be kept and loaded where numba has never been imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from kernelcast.simcore.host.llvm import Processor, link_entry
from kernelcast.simcore.host.ready_code import ENTRY, ReadyCode

__all__ = ["dispatcher_of", "intrinsic_type", "make_code"]


def dispatcher_of(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """What compiles the function for numba, with numba's options."""
    import numba

    return numba.njit(**options)(function)


def intrinsic_type(typing: Callable[..., Any]) -> Any:
    """The type by which compiled code knows an operation that is written in LLVM's IR."""
    from numba.core.registry import cpu_target
    from numba.extending import intrinsic

    context: Any = cpu_target.typing_context
    made: Any = intrinsic(typing)
    context.refresh()
    return context.resolve_value_type(made)


def make_code(dispatcher: Any, arguments: Sequence[Any], processor: Processor) -> ReadyCode:
    """Compiles a function for arguments of the types of `arguments`, for a processor.

    numba's own errors for what it cannot compile; RuntimeError for code that only this process can
    run.
    """
    import numba

    type_of: Any = numba.typeof
    types = tuple(type_of(argument) for argument in arguments)
    dispatcher.compile(types)
    made: Any = dispatcher.overloads[types]
    if made.library.has_dynamic_globals:
        raise RuntimeError(f"{made.fndesc.qualname} uses an object of this process")
    parts, is_tuple = _parts(made.fndesc.restype)
    entry = _entry_ir(made, parts, is_tuple)
    code = link_entry(entry, made.library.get_llvm_str(), ENTRY, processor)
    return ReadyCode(code, [str(part) for part in parts], is_tuple)


def _parts(result: Any) -> tuple[list[Any], bool]:
    from numba import types

    if isinstance(result, types.BaseTuple):
        return list(cast(Any, result).types), True
    return ([] if result == types.none else [result]), False


def _entry_ir(made: Any, parts: Sequence[Any], is_tuple: bool) -> str:
    """IR of a function (words, words of results) -> 0 that calls the compiled function.

    It returns another number where that raises an exception.
    """
    from llvmlite import ir

    context, function = made.target_context, made.fndesc
    module = context.create_module(ENTRY)
    word = ir.IntType(64)
    kind = ir.FunctionType(ir.IntType(32), [word.as_pointer()] * 2)
    entry = ir.Function(module, kind, ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    packer = context.get_arg_packer(function.argtypes)

    def place(words: Any, number: int) -> Any:
        return builder.gep(words, [ir.Constant(word, number)])

    flat = [
        _from_word(builder, builder.load(place(entry.args[0], number)), wanted)
        for number, wanted in enumerate(packer.argument_types)
    ]
    status, result = context.call_conv.call_function(
        builder,
        context.declare_function(module, function),
        function.restype,
        function.argtypes,
        packer.from_arguments(builder, flat),
    )
    for number, part in enumerate(parts):
        value = builder.extract_value(result, number) if is_tuple else result
        builder.store(_as_word(builder, value, part), place(entry.args[1], number))
    builder.ret(status.code)
    return str(module)


def _from_word(builder: Any, word: Any, wanted: Any) -> Any:
    from llvmlite import ir

    if isinstance(wanted, ir.PointerType):
        return builder.inttoptr(word, wanted)
    if isinstance(wanted, ir.DoubleType):
        return builder.bitcast(word, wanted)
    if isinstance(wanted, ir.FloatType):
        return builder.bitcast(builder.trunc(word, ir.IntType(32)), wanted)
    return word if wanted.width == word.type.width else builder.trunc(word, wanted)


def _as_word(builder: Any, value: Any, of_type: Any) -> Any:
    from llvmlite import ir

    word = ir.IntType(64)
    if isinstance(value.type, ir.DoubleType):
        return builder.bitcast(value, word)
    if isinstance(value.type, ir.FloatType):
        return builder.zext(builder.bitcast(value, ir.IntType(32)), word)
    if value.type.width == word.width:
        return value
    return (builder.sext if getattr(of_type, "signed", False) else builder.zext)(value, word)
