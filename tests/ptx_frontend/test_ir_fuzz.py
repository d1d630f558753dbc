"""Damaged modules of LLVM IR, bitcode and SPIR-V are read or refused; `make test-all` has most."""

from __future__ import annotations

import pytest

from kernelcast.simcore.host.ir_process import canonical_ir
from tests.drawn_cases import ALL_CASES
from tests.ptx_frontend import fuzz_ir as fuzz
from tests.ptx_frontend import ir_seeds

MUTANTS = 10_000 if ALL_CASES else 2_000
PROCESSES = 2


def test_seeds_are_sound() -> None:
    """A fuzzer of broken seeds would find nothing."""
    texts = [fuzz.Mutant(fuzz.Form.TEXT, text.encode()) for text in ir_seeds.TEXTS]
    bitcode = [fuzz.Mutant(fuzz.Form.BITCODE, content) for content in ir_seeds.bitcode_seeds()]
    spirv = [fuzz.Mutant(fuzz.Form.SPIRV, content) for content in ir_seeds.spirv_seeds()]
    for mutant in (*texts, *bitcode, *spirv):
        assert fuzz.outcome_of(mutant) is fuzz.Outcome.KERNELS, mutant


def test_damaged_modules_are_read_or_refused() -> None:
    """Processes of their own read them, so that a crash would end one of them and not the tests."""
    report = fuzz.run_parallel(MUTANTS, seed=40, processes=PROCESSES)
    for escape in report.escapes.values():
        pytest.fail(f"{escape.reason}\n{escape.mutant}")
    assert sum(report.outcomes.values()) == MUTANTS
    for form in fuzz.Form:
        for outcome in (fuzz.Outcome.KERNELS, fuzz.Outcome.REFUSED):
            assert report.outcomes[form, outcome] > MUTANTS / 100, (form, outcome)


def test_a_huge_parameter_is_refused() -> None:
    """A copy of it would be an instruction for every element."""
    parameter = "ptr byval([99999999 x i8]) align 1 %p"
    text = f"define spir_kernel void @k({parameter}) {{\n  ret void\n}}\n"
    mutant = fuzz.Mutant(fuzz.Form.TEXT, text.encode())
    assert fuzz.outcome_of(mutant) is fuzz.Outcome.REJECTED


def test_the_same_seed_makes_the_same_modules() -> None:
    first, again, other = fuzz.Fuzzer(1), fuzz.Fuzzer(1), fuzz.Fuzzer(2)
    made = [first.mutant() for _ in range(20)]
    assert made == [again.mutant() for _ in range(20)]
    assert made != [other.mutant() for _ in range(20)]


def test_an_escape_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise IndexError("broken")

    monkeypatch.setattr(fuzz, "read_llvm", broken)
    monkeypatch.setattr(fuzz, "read_spirv", broken)
    (escape,) = fuzz.run(3, seed=1).escapes.values()
    assert "IndexError: broken" in escape.reason


def test_the_process_that_reads_goes_on_after_a_crash() -> None:
    """Each module of damaged bitcode is read by a copy of it."""
    for content in ir_seeds.bitcode_seeds():
        broken = bytearray(content)
        broken[len(broken) // 2 :] = b"\xff" * (len(broken) - len(broken) // 2)
        fuzz.outcome_of(fuzz.Mutant(fuzz.Form.BITCODE, bytes(broken)))
        assert "define" in canonical_ir(content, is_text=False, path="sound")
