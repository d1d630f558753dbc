"""What instructions of machine code say of themselves."""

from __future__ import annotations

import pytest

from kernelcast.simcore.isa.types import AddressSpace, Unit
from kernelcast.traces.sass_opcodes import SASS_OPCODES, sass_instruction
from kernelcast.traces.trace import InstructionRow


def test_sass_tables_speak_the_language_of_the_ir() -> None:
    units, spaces = {unit.value for unit in Unit}, {space.value for space in AddressSpace}
    kinds = {"compute", "load", "store", "atomic", "fence", "barrier", "branch", "exit"}
    for opcode in SASS_OPCODES.values():
        assert opcode.unit in units
        assert opcode.space in spaces | {""}
        assert opcode.kind in kinds
        assert bool(opcode.space) == (opcode.kind in ("load", "store", "atomic"))
    assert {"unit", "kind", "flops", "space"} <= InstructionRow.__dataclass_fields__.keys()


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("FFMA.FTZ", ("FFMA", "fp32", "compute", 2, "", 0, "")),
        ("FADD32I", ("FADD", "fp32", "compute", 1, "", 0, "")),
        ("DFMA", ("DFMA", "fp64", "compute", 2, "", 0, "")),
        ("HFMA2.MMA", ("HFMA2", "fp16", "compute", 4, "", 0, "")),
        ("HMMA.16816.F32", ("HMMA", "tensor", "compute", 128, "", 0, "")),
        ("IMAD.WIDE.U32", ("IMAD", "integer", "compute", 0, "", 0, "")),
        ("UIADD3", ("IADD3", "integer", "compute", 0, "", 0, "")),
        ("MUFU.RCP", ("MUFU", "special function", "compute", 0, "", 0, "")),
        ("MUFU.SQRT", ("MUFU", "special function", "compute", 1, "", 0, "")),
        ("F2F.F32.F64", ("F2F", "conversion", "compute", 0, "", 0, "")),
        ("BRA", ("BRA", "control", "branch", 0, "", 0, "")),
        ("BAR.SYNC.DEFER_BLOCKING", ("BAR", "barrier", "barrier", 0, "", 0, "")),
        ("BAR.ARV", ("BAR", "barrier", "compute", 0, "", 0, "")),
        ("LDGDEPBAR", ("LDGDEPBAR", "load/store", "fence", 0, "", 0, "")),
        ("LDG.E.128.CONSTANT.SYS", ("LDG", "load/store", "load", 0, "global", 16, "nc")),
        ("LDG.E.U8.STRONG.GPU", ("LDG", "load/store", "load", 0, "global", 1, "cg")),
        ("LDGSTS.E.BYPASS.LTC128B.128", ("LDGSTS", "load/store", "load", 0, "global", 16, "cg")),
        ("LDSM.16.M88.4", ("LDSM", "load/store", "load", 0, "shared", 16, "")),
        ("STL.64", ("STL", "load/store", "store", 0, "local", 8, "")),
        ("RED.E.ADD.F32.FTZ.RN", ("RED", "load/store", "atomic", 0, "global", 4, "")),
        ("ATOMS.ADD", ("ATOMS", "load/store", "atomic", 0, "shared", 0, "")),
        ("ULDC.64", ("LDC", "load/store", "load", 0, "const", 8, "")),
    ],
)
def test_sass_opcodes(spelling: str, expected: tuple[str, str, str, int, str, int, str]) -> None:
    found = sass_instruction(spelling)
    assert found is not None
    name, unit, kind, flops, space, size, cache = expected
    assert (found.opcode, found.unit, found.kind, found.flops) == (name, unit, kind, flops)
    assert (found.space, found.access_bytes, found.cache) == (space, size, cache)


@pytest.mark.parametrize(
    ("spelling", "type_", "multiply_adds"),
    [
        ("HMMA.16816.F32", "fp16", 16 * 8 * 16),
        ("HMMA.1688.F16", "fp16_fp16", 16 * 8 * 8),
        ("HMMA.16816.F32.BF16", "bf16", 16 * 8 * 16),
        ("HMMA.1688.F32.TF32", "tf32", 16 * 8 * 8),
        ("HMMA.SP.16832.F32", "fp16 sparse", 16 * 8 * 32),
        ("HMMA.884.F32.F32.STEP2", "fp16", 8 * 8 * 4),
        ("IMMA.16832.S8.S8", "int8", 16 * 8 * 32),
        ("IMMA.8832.U4.U4", "int4", 8 * 8 * 32),
        ("BMMA.168256.AND.POPC", "b1", 16 * 8 * 256),
        ("DMMA.884", "fp64", 8 * 8 * 4),
        ("QMMA.16832.F32.E4M3.E4M3", "fp8", 16 * 8 * 32),
    ],
)
def test_products_count_by_type(spelling: str, type_: str, multiply_adds: int) -> None:
    found = sass_instruction(spelling)
    assert found is not None
    assert (found.unit, found.tensor_type) == ("tensor", type_)
    assert found.tensor_operations * 32 == 2 * multiply_adds
    assert found.flops == (0 if type_.startswith(("int", "b1")) else found.tensor_operations)


@pytest.mark.parametrize("spelling", ["UTMALDG.2D", "TEX.B.LL", "HMMA.7", "U", ""])
def test_what_has_no_meaning_here_is_unknown(spelling: str) -> None:
    assert sass_instruction(spelling) is None
