"""What the names of one kernel stand for: registers, special registers, variables, parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kernelcast.errors import PtxSyntaxError, UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.calls.call_graph import CallGraph, function_addresses
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile, Scope
from kernelcast.ptx_frontend.ptx.lowering.variables import references
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import Function, SymbolReference, VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import Parameter, Register, Special

__all__ = ["SPECIALS", "ModuleNames", "Names", "special_register_bits"]

SPECIALS = {special.value: special for special in Special if special is not Special.WARP_WIDTH}
_WIDE_SPECIALS = frozenset((Special.CLOCK64, Special.GLOBALTIMER, Special.GRIDID))
_OTHER_SPECIALS = re.compile(
    r"%(tid|ntid|ctaid|nctaid|(n?clusterid|cluster_n?ctaid)(\.[xyz])?|cluster_n?ctarank"
    r"|is_explicit_cluster|envreg\d+|pm\d+(_64)?|clock_hi|globaltimer_(lo|hi)|aggr_smem_size"
    r"|reserved_smem_\w+|current_graph_exec|t?n?(cta)?id\.w)"
)


def special_register_bits(special: Special) -> int:
    """The width of a special register: 64 or 32 bits."""
    return 64 if special in _WIDE_SPECIALS else 32


@dataclass(slots=True)
class Inlined:
    """How many instructions of functions the kernels of a file have got so far."""

    instructions: int = 0


@dataclass(frozen=True)
class ModuleNames:
    """The variables and functions of a file."""

    source: SourceText
    variables: Mapping[str, VariableDeclaration]
    functions: Mapping[str, Function]
    inlined: Inlined = field(default_factory=Inlined)

    @cached_property
    def call_graph(self) -> CallGraph:
        """The call graph of the file's functions."""
        return CallGraph(self.functions, self.variables)

    @cached_property
    def function_addresses(self) -> Mapping[str, int]:
        """What pointers to the functions hold."""
        return function_addresses(self.functions)


class Names:
    """The names of one kernel. `used` collects the variables that it needs, by their symbol."""

    def __init__(self, module: ModuleNames) -> None:
        self.module = module
        self.source = module.source
        self.parameters: Mapping[str, Parameter] = {}
        self.file = RegisterFile()
        self.scope = Scope(module.source, self.file)
        self.used: dict[str, VariableDeclaration] = {}
        self.addressed_parameters: set[str] = set()
        self.branch_targets: dict[str, tuple[str, ...]] = {}
        """Labels by the name of their `.branchtargets` list."""
        self.on_stack: dict[VariableDeclaration, Register] = {}
        """The addresses of local variables of functions that may call themselves."""
        self.opaque: dict[VariableDeclaration, Parameter] = {}
        """Textures, surfaces and samplers of the file that the kernel uses: the launch sets them,
        by arguments behind those of the parameters."""
        self.leaders: set[Register] = set()
        """Addresses that were masked to those of the leader of a pair of thread blocks."""
        self._carry: Register | None = None

    def carry(self) -> Register:
        """The carry flag of extended-precision arithmetic: a predicate that no source names."""
        if self._carry is None:
            self._carry = self.file.new("%cc", 1)
        return self._carry

    def register(self, name: str, at: int) -> Register:
        """The register of that name; PtxSyntaxError, with the nearest names, for an unknown one."""
        found = self.scope.register(name)
        if found is None:
            raise self.unknown(name, at)
        return found

    def variable(self, name: str) -> VariableDeclaration | None:
        """The declaration of a variable of the kernel or the file; None for another name."""
        found = self.scope.variable(name)
        return self.module.variables.get(name) if found is None else found

    def symbol(self, declaration: VariableDeclaration) -> str:
        """The symbol of a variable, entered as used together with all that it points to."""
        key = declaration.name
        if self.used.get(key, declaration) is not declaration:
            key = f"{key}@{self.source.span(declaration.at).line}"
        pending = [] if key in self.used else [(key, declaration)]
        while pending:  # not by recursion: chains of variables may be long
            name, variable = pending.pop()
            self._refuse_extern(variable)
            self.used[name] = variable
            for reference in references(variable.initial):
                target = self._referred(reference)
                if target is not None and target.name not in self.used:
                    pending.append((target.name, target))
        return key

    def _refuse_extern(self, declaration: VariableDeclaration) -> None:
        if declaration.linkage == "extern" and declaration.space != "shared":
            raise UnsupportedInstruction(
                f"variable {declaration.name!r} is defined in another file",
                self.source.span(declaration.at, len(declaration.name)),
            )

    def _referred(self, reference: SymbolReference) -> VariableDeclaration | None:
        """The variable whose address initialises another; None for functions."""
        name = reference.name
        target = self.variable(name)
        span = self.source.span_of(name, reference.at)
        if target is None:
            if name in self.module.functions:
                return None
            raise PtxSyntaxError(f"no variable {name!r}", span)
        if target.space != "global" and not reference.generic:
            raise UnsupportedInstruction(
                f"the address of {name!r} within its own space is not supported as data", span
            )
        return target

    def unknown(self, name: str, at: int) -> PtxSyntaxError | UnsupportedInstruction:
        """Why a name stands for nothing."""
        span = self.source.span_of(name, at)
        if _OTHER_SPECIALS.fullmatch(name) or name in SPECIALS:
            return UnsupportedInstruction(f"special register {name!r} is not supported here", span)
        return PtxSyntaxError(f"no register {name!r}{self.scope.nearest_name(name)}", span)
