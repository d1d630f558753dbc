"""The entry of the opcode table that executes a mnemonic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.ptx.legal.modifiers import illegal_modifiers
from kernelcast.simcore.isa.opcodes import table as opcodes
from kernelcast.simcore.isa.opcodes.table import Context, Opcode
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = ["EXECUTED_ROOTS", "ComputeForm", "Refusal", "compute_form", "scalar_type"]

EXECUTED_ROOTS = frozenset(
    (
        *("ld", "ldu", "st", "atom", "red", "membar", "fence"),
        *("bra", "ret", "exit", "trap", "brkpt", "pmevent", "bar", "barrier", "call", "brx"),
        *("alloca", "stacksave", "stackrestore"),
        *("shfl", "vote", "match", "redux", "activemask", "elect"),
        *("tex", "tld4", "txq", "suld", "sust", "sured", "suq"),
        *("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"),
        *("nanosleep", "griddepcontrol", "prefetch", "prefetchu", "discard", "applypriority"),
    )
)
"""Opcode roots that are no entries of the table but instructions of their own."""

_HARMLESS = frozenset(("rn",))
"""Modifiers that say what an entry does anyway: rounding to nearest even is the default."""

_MIXED = ("add", "sub", "fma")
_WHOLE_SPACES = {"param::entry": "param", "shared::cluster": "shared"}
_TWO_MASKS = (ScalarType.U32, ScalarType.S32)


@dataclass(frozen=True, slots=True)
class ComputeForm:
    """A mnemonic, understood: entry, types, the modifiers that the entry honours, operand types."""

    opcode: Opcode
    type: ScalarType
    source_type: ScalarType
    modifiers: frozenset[str]
    results: tuple[ScalarType, ...]
    sources: tuple[ScalarType, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a mnemonic has no meaning here."""

    reason: str

    @staticmethod
    def of(mnemonic: str, why: str = "") -> Refusal:
        """The sentence that all refusals of an instruction share."""
        return Refusal(f"instruction {mnemonic!r} is not supported" + (why and f": {why}"))


def scalar_type(name: str) -> ScalarType | None:
    """The scalar type of that name; None for another name."""
    try:
        return ScalarType.named(name)
    except KeyError:
        return None


@cache
def compute_form(mnemonic: str, shape: str = "") -> ComputeForm | Refusal:
    """The form of a computing instruction; `shape` (`pack2`, ...) is a part that operands add."""
    root, *parts = mnemonic.split(".")
    parts = _without_subspaces(root, parts)
    modifiers, types = _types_apart(parts)
    shape = shape or _packing(root, types)
    names = [*([shape] if shape else []), *modifiers]
    entries = _by_root().get(root)
    if entries is None:
        # of one first letter only: a file may hold tens of thousands of unknown names
        known_roots = [name for name in (*_by_root(), *EXECUTED_ROOTS) if name[0] == root[:1]]
        return Refusal(f"instruction {mnemonic!r} is not supported{nearest(root, known_roots)}")
    fitting = [entry for entry in entries if _left(entry, names) is not None]
    refusals: list[Refusal] = []
    for entry in fitting:
        form = _form(entry, names, types, mnemonic)
        if isinstance(form, ComputeForm):
            return form
        refusals.append(form)
    if not fitting:
        return Refusal.of(mnemonic, f"no form of {root!r} fits")
    return refusals[0]


def _without_subspaces(root: str, parts: list[str]) -> list[str]:
    """Parts of a mnemonic without sub-spaces of parameters and shared memory.

    Outside of inlined functions all parameters are those of the entry; shared memory of a cluster
    has one window, addresses in it name the thread block.
    """
    if root not in ("cvta", "isspacep"):
        return parts
    return [_WHOLE_SPACES.get(part, part) for part in parts]


def _types_apart(parts: Sequence[str]) -> tuple[list[str], list[ScalarType]]:
    """Modifiers and types; those that `cvt.pack` packs into are a part of its name."""
    if parts[:1] == ["pack"]:
        return [part for part in parts if part not in ("s32", "b32")], [ScalarType.S32]
    types = [known for part in parts if (known := scalar_type(part)) is not None]
    return [part for part in parts if scalar_type(part) is None], types


def _packing(root: str, types: Sequence[ScalarType]) -> str:
    """What types add to a name.

    A conversion into a packed result is of four or two values or of a packed one, arithmetic of two
    types is mixed.
    """
    if len(types) != 2:
        return ""
    if root != "cvt":
        return "mixed" if root in _MIXED else ""
    if types[0].kind is Kind.FOURFOLD:
        return "four"
    if not types[0].is_packed:
        return ""
    return "packed" if types[1].is_packed else "pair"


def _mixes_packing(entry: Opcode, types: Sequence[ScalarType]) -> bool:
    """Whether a `set` of packed operands has another result than its own type or two masks."""
    target, source = types[0], types[-1]
    if not entry.name.startswith("set.") or not (target.is_packed or source.is_packed):
        return False
    return target is not source and not (source.is_packed and target in _TWO_MASKS)


def _by_root() -> dict[str, list[Opcode]]:
    """The table's entries by root, those with the longest names first."""
    return _entries_by_root(len(opcodes.OPCODES))


@cache
def _entries_by_root(_size: int) -> dict[str, list[Opcode]]:
    """The entries by root, made anew when the table has grown: plug-ins may come at any time."""
    entries: dict[str, list[Opcode]] = {}
    for entry in sorted(opcodes.OPCODES.values(), key=lambda entry: -entry.name.count(".")):
        entries.setdefault(entry.name.split(".")[0], []).append(entry)
    return entries


def _left(entry: Opcode, names: Sequence[str]) -> list[str] | None:
    """What remains of `names` without the entry's own, in order; None when one of those lacks."""
    wanted = entry.name.split(".")[1:]
    left: list[str] = []
    for name in names:
        if wanted and name == wanted[0]:
            wanted.pop(0)
        else:
            left.append(name)
    return None if wanted else left


def _form(
    entry: Opcode, names: Sequence[str], types: Sequence[ScalarType], mnemonic: str
) -> ComputeForm | Refusal:
    left = _left(entry, names) or []
    foreign = [name for name in left if name not in entry.modifiers and name not in _HARMLESS]
    if foreign:
        return Refusal.of(mnemonic, f"modifier '.{foreign[0]}' of {entry.name!r}")
    if not types and len(entry.types) == 1:
        types = tuple(entry.types)
    needed = 2 if "s" in entry.signature else 1
    if len(types) != needed:
        kinds = f"type{'s' * (needed > 1)}"
        return Refusal.of(mnemonic, f"{entry.name!r} needs {needed} {kinds}, got {len(types)}")
    if types[0] not in entry.types:
        type_name = types[0].ptx_name
        return Refusal.of(mnemonic, f"{entry.name!r} of type .{type_name}")
    if needed == 2 and types[1] not in entry.sources:
        type_name = types[1].ptx_name
        return Refusal.of(mnemonic, f"{entry.name!r} from type .{type_name}")
    if _mixes_packing(entry, types):
        names_of_types = ".".join(type_.ptx_name for type_ in types)
        return Refusal.of(mnemonic, f"{entry.name!r} of types .{names_of_types}")
    wrong = illegal_modifiers(entry, types[0], types[-1], left)
    if wrong:
        return Refusal.of(mnemonic, wrong)
    modifiers = frozenset(left) & entry.modifiers
    context = Context(types[0], types[-1], modifiers)
    return ComputeForm(
        entry,
        types[0],
        types[-1],
        modifiers,
        entry.result_types(context),
        entry.operand_types(context),
    )
