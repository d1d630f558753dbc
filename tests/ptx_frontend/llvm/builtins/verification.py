"""Calls a built-in function in a kernel of its own: for the tests of these functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.llvm.builtins import lower_builtin
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    PointerType,
    ScalarIrType,
    VectorType,
    parts_of,
)
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.engine import Listener, execute
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Kernel,
    Parameter,
    Register,
    Special,
    SpecialRegister,
    Symbol,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.launch import Launch

__all__ = ["Memory", "called", "kernel_of", "run_call"]

Array = npt.NDArray[Any]
_GLOBAL, _CONSTANT = 1, 2
_ELEMENTS = {
    np.dtype(np.int8): ScalarIrType.I8,
    np.dtype(np.uint8): ScalarIrType.I8,
    np.dtype(np.int16): ScalarIrType.I16,
    np.dtype(np.uint16): ScalarIrType.I16,
    np.dtype(np.int32): ScalarIrType.I32,
    np.dtype(np.uint32): ScalarIrType.I32,
    np.dtype(np.int64): ScalarIrType.I64,
    np.dtype(np.uint64): ScalarIrType.I64,
    np.dtype(np.float16): ScalarIrType.HALF,
    np.dtype(np.float32): ScalarIrType.FLOAT,
    np.dtype(np.float64): ScalarIrType.DOUBLE,
}


@dataclass(frozen=True, slots=True)
class Memory:
    """A pointer argument: thread i gets the address of byte `stride` * i of a buffer."""

    buffer: Array
    stride: int = 0


Operand: TypeAlias = Array | Memory | int | str
Operands: TypeAlias = Sequence[Operand]
"""Rows for each thread, pointers, constants of 32 bits, and strings in constant memory."""


def called(
    symbol: str,
    operands: Operands,
    result: tuple[Any, int] | None,
    engine: str = "jit",
    threads: int | None = None,
) -> Array:
    """What the function gives each thread: shape (threads,), or (threads, n) of a vector.

    `result` is its dtype and number of elements, None for a function without one.
    """
    count = threads or next(len(x) for x in operands if isinstance(x, np.ndarray))
    dtype, width = result or (np.int32, 1)
    out = np.zeros((count, width) if width > 1 else count, dtype)
    run_call(kernel_of(symbol, operands, result), operands, out, engine)
    return out


def run_call(
    kernel: Kernel,
    operands: Operands,
    out: Array,
    engine: str,
    write: Callable[[str], object] | None = None,
) -> None:
    """Runs it with as many threads, in one thread block or in thread blocks of 256."""
    rows = len(out) + (-len(out) % 256 if len(out) > 256 else 0)
    buffers: list[Array] = []
    for operand in operands:
        if isinstance(operand, Memory):
            buffers.append(operand.buffer)
        elif isinstance(operand, np.ndarray):
            buffers.append(np.resize(operand, (rows, *operand.shape[1:])))
    results = np.zeros((rows, *out.shape[1:]), out.dtype)
    threads = min(rows, 256)
    launch = Launch((rows // threads, 1, 1), (threads, 1, 1), (*buffers, results))
    execute(kernel, launch, engine=engine, listener=Listener(write=write))
    out[...] = results[: len(out)]


def kernel_of(
    symbol: str, operands: Operands, result: tuple[Any, int] | None, axes: str = "X"
) -> Kernel:
    """Loads the operands, calls, and stores the result.

    Rows belong to threads by their number along the axes of the thread block, the slowest first.
    """
    file = RegisterFile()
    builder = BasicBlockBuilder(SourceSpan("call.ll", 1, 1), file)
    code, variables = Code(builder), _Variables()
    thread = _thread_number(code, axes)
    arguments: list[Value] = []
    count = 0
    for operand in operands:
        if isinstance(operand, int):
            number = Immediate(operand & 0xFFFFFFFF)
            arguments.append(Value(ScalarIrType.I32, (number,)))
        elif isinstance(operand, str):
            arguments.append(Value(PointerType(_CONSTANT), (variables.string(operand),)))
        else:
            arguments.append(_argument(code, operand, 8 * count, thread))
            count += 1
    code.begin(f"call {symbol}()")
    type_ = None if result is None else _type(np.dtype(result[0]), result[1])
    call = CallSite(symbol, tuple(arguments), type_, code, {}, share=variables.share)
    value = lower_builtin(call, variables.allocate)
    code.finish()
    code.locate(builder.start, None)
    if value is not None:
        _store(code, value, 8 * count, thread)
    names = [*(f"operand{i}" for i in range(count)), "out"]
    parameters = tuple(
        Parameter(name, ScalarType.U64, 8 * i, 8, is_pointer=True) for i, name in enumerate(names)
    )
    blocks, registers = builder.finish(), tuple(file.registers)
    return Kernel(
        "call", blocks, registers, parameters, variables.symbols, variables.shared, variables.end
    )


class _Variables:
    """What the call needs besides its operands."""

    def __init__(self) -> None:
        self.symbols: dict[str, Symbol] = {}
        self.end = 16
        self.shared = 0

    def allocate(self, name: str, size: int, align: int) -> SymbolAddress:
        offset = -(-self.end // align) * align
        self.end = offset + size
        self.symbols[name] = Symbol(name, AddressSpace.LOCAL, size, align, offset)
        return SymbolAddress(name)

    def share(self, name: str, size: int, align: int) -> SymbolAddress:
        if name not in self.symbols:
            self.symbols[name] = Symbol(name, AddressSpace.SHARED, size, align, self.shared)
            self.shared += size
        return SymbolAddress(name)

    def string(self, text: str) -> SymbolAddress:
        data, name = text.encode() + b"\0", f"string{len(self.symbols)}"
        self.symbols[name] = Symbol(name, AddressSpace.GLOBAL, len(data), 1, 0, data)
        return SymbolAddress(name)


def _type(dtype: np.dtype[Any], count: int) -> IrType:
    element = _ELEMENTS[dtype]
    return element if count == 1 else VectorType(element, count)


def _thread_number(code: Code, axes: str) -> Register:
    """Emits the thread's number in the grid, 64 bits."""

    def special(which: Special) -> Register:
        register = code.register(32)
        code.move(register, SpecialRegister(which))
        return register

    number = special(Special.CTAID_X)
    for axis in axes:
        size, place = Special[f"NTID_{axis}"], Special[f"TID_{axis}"]
        number = code.compute("mad.lo.u32", 32, number, special(size), special(place))
    return code.compute("cvt.u64.u32", 64, number)


def _place(code: Code, offset: int, thread: Register, stride: int) -> Register:
    base = code.register(64)
    code.load(ScalarType.U64, Address(AddressSpace.PARAM, None, offset), (base,))
    return code.compute("mad.lo.u64", 64, thread, Immediate(stride), base)


def _argument(code: Code, operand: Array | Memory, offset: int, thread: Register) -> Value:
    if isinstance(operand, Memory):
        return Value(PointerType(_GLOBAL), (_place(code, offset, thread, operand.stride),))
    width = 1 if operand.ndim == 1 else operand.shape[1]
    size = operand.dtype.itemsize
    place = _place(code, offset, thread, width * size)
    parts: list[Register] = []
    for index in range(width):
        register = code.register(max(8 * size, 16))
        address = Address(AddressSpace.GLOBAL, place, index * size)
        code.load(ScalarType.named(f"b{8 * size}"), address, (register,))
        parts.append(register)
    return Value(_type(operand.dtype, width), tuple(parts))


def _store(code: Code, value: Value, offset: int, thread: Register) -> None:
    kinds = parts_of(value.type)
    assert all(isinstance(kind, ScalarIrType) for kind in kinds)
    size = kinds[0].bytes if isinstance(kinds[0], ScalarIrType) else 8
    place = _place(code, offset, thread, size * len(kinds))
    for index, part in enumerate(value.parts):
        address = Address(AddressSpace.GLOBAL, place, index * size)
        code.store(ScalarType.named(f"b{8 * size}"), address, (part,))
