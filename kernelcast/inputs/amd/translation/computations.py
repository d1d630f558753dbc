"""Computations: what the table of opcodes says as LLVM IR, or instructions of AMD's own.

PTX leaves the error of an approximating function open: here it is the instruction that OpenCL's
`native_` functions are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.inputs.amd.translation.memory import SPACES
from kernelcast.simcore.isa.ir.kernel import Compute
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.rounding import llvm_float_modes
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["APPROXIMATIONS", "write_compute"]

_TURN = 0.15915494309189535
_EXACT_NAMES = ("image", "fma.oob")
"""Opcodes that no text of PTX stands for."""


def _called(code: LaneCode, name: str, a: str) -> str:
    """Calls an intrinsic of one `float`, lane by lane."""
    if code.lanes == 1:
        return code.intrinsic(name, "float", [("float", a)])
    kind, single = code.type("float"), code.with_lanes(1)
    found = "poison"
    for lane in range(code.lanes):
        part = code.op(f"extractelement {kind} {a}, i32 {lane}")
        part = single.intrinsic(name, "float", [("float", part)])
        found = code.op(f"insertelement {kind} {found}, float {part}, i32 {lane}")
    return found


def _approximation(meaning: Callable[..., str]) -> Emission:
    """The function of `float`; f16 by way of it."""

    @llvm_float_modes
    def emit(code: LaneCode, context: Context, *operands: str) -> str:
        if context.type is ScalarType.F16:
            wide = [code.cast("fpext", "half", x, "float") for x in operands]
            return code.cast("fptrunc", "float", meaning(code, *wide), "half")
        return meaning(code, *operands)

    return emit


def _reciprocal(code: LaneCode, a: str) -> str:
    return _called(code, "amdgcn.rcp", a)


def _quotient(code: LaneCode, a: str, b: str) -> str:
    return code.binary("fmul", "float", a, _reciprocal(code, b))


def _of_turns(name: str) -> Callable[[LaneCode, str], str]:
    def meaning(code: LaneCode, a: str) -> str:
        turns = code.binary("fmul", "float", a, code.real("float", _rounded(_TURN)))
        return _called(code, name, turns)

    return meaning


def _rounded(value: float) -> float:
    (found,) = struct.unpack("<f", struct.pack("<f", value))
    return float(found)


def _tangent(code: LaneCode, a: str) -> str:
    """The hyperbolic tangent, which AMD's GPUs have no instruction for."""
    name = "@__ocml_tanh_f32"
    code.declarations[name] = f"declare float {name}(float)"
    if code.lanes == 1:
        return code.op(f"call float {name}(float {a})")
    raise NotTranslated("tanh of two numbers")


APPROXIMATIONS: Mapping[str, Emission] = {
    "rcp": _approximation(_reciprocal),
    "div": _approximation(_quotient),
    "sqrt": _approximation(lambda code, a: _called(code, "amdgcn.sqrt", a)),
    "rsqrt": _approximation(lambda code, a: _called(code, "amdgcn.rsq", a)),
    "ex2": _approximation(lambda code, a: _called(code, "amdgcn.exp2", a)),
    "lg2": _approximation(lambda code, a: _called(code, "amdgcn.log", a)),
    "sin": _approximation(_of_turns("amdgcn.sin")),
    "cos": _approximation(_of_turns("amdgcn.cos")),
    "tanh": _approximation(_tangent),
}
"""Opcodes that approximate, as AMD's instructions."""
_APPROXIMATES = frozenset(("approx", "full"))


def write_compute(code: FunctionCode, instruction: Compute) -> None:
    """destinations = opcode(sources), by the entry of the opcode or AMD's own instruction."""
    name = instruction.opcode.name
    if name.startswith(("cvta.", "isspacep.")):
        _convert_address(code, instruction)
        return
    if name in _EXACT_NAMES:
        raise NotTranslated("textures and matrices")
    context = Context(instruction.type, instruction.source_type, instruction.modifiers)
    pairs = zip(instruction.sources, instruction.opcode.operand_types(context), strict=True)
    operands = [code.read(operand, type_) for operand, type_ in pairs]
    result = _emission(instruction)(code.lanes, context, *operands)
    results = result if isinstance(result, tuple) else (result,)
    types = instruction.opcode.result_types(context)
    for register, value, type_ in zip(instruction.destinations, results, types, strict=False):
        code.write(register, value, type_, instruction.guard)


def _emission(instruction: Compute) -> Emission:
    name, is_double = instruction.opcode.name, instruction.type is ScalarType.F64
    approximates = bool(_APPROXIMATES & instruction.modifiers)
    if name in APPROXIMATIONS and approximates and not is_double:
        return APPROXIMATIONS[name]
    return instruction.opcode.emit


# ---- generic addresses ----


def _space(name: str) -> AddressSpace:
    return AddressSpace(name.rpartition(".")[2].partition("::")[0])


def _convert_address(code: FunctionCode, instruction: Compute) -> None:
    """Makes a flat address of one of a space, or the reverse, or asks if it is of the space."""
    name, (source,) = instruction.opcode.name, instruction.sources
    space = _space(name)
    (register, *_) = instruction.destinations
    if space is AddressSpace.PARAM:
        raise NotTranslated("addresses of parameters")
    if name.startswith("isspacep."):
        found = _is_in(code, space, code.read_bits(source, 64))
        code.write(register, found, ScalarType.PRED, instruction.guard)
        return
    bits = 32 if space in (AddressSpace.SHARED, AddressSpace.LOCAL) else 64
    if bits == 64:
        code.write(register, code.read_bits(source, 64), ScalarType.B64, instruction.guard)
        return
    near, flat = f"ptr addrspace({SPACES[space]})", "ptr"
    to_space = name.startswith("cvta.to.")
    here, there = (flat, near) if to_space else (near, flat)
    width = 64 if to_space else 32
    start = code.lanes.op(f"inttoptr i{width} {code.read_bits(source, width)} to {here}")
    moved = code.lanes.op(f"addrspacecast {here} {start} to {there}")
    found_bits = 32 if to_space else 64
    value = code.lanes.op(f"ptrtoint {there} {moved} to i{found_bits}")
    code.write(register, code.fitted(value, found_bits, 64), ScalarType.B64, instruction.guard)


def _is_in(code: FunctionCode, space: AddressSpace, value: str) -> str:
    flat = code.lanes.op(f"inttoptr i64 {value} to ptr")
    shared = code.call("i1", "@llvm.amdgcn.is.shared", f"ptr {flat}", "ptr")
    own = code.call("i1", "@llvm.amdgcn.is.private", f"ptr {flat}", "ptr")
    match space:
        case AddressSpace.SHARED:
            return shared
        case AddressSpace.LOCAL:
            return own
        case AddressSpace.GLOBAL:
            either = code.lanes.binary("or", "i1", shared, own)
            return code.lanes.binary("xor", "i1", either, "true")
    raise NotTranslated(f"whether an address is of {space.value} memory")
