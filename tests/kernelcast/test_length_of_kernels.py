"""One kernel of too many instructions or basic blocks is refused; many short ones are not."""

from __future__ import annotations

from importlib import import_module

import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.ptx.text import statement_parser
from kernelcast.simcore.engine import Listener, execute
from kernelcast.simcore.host import limits
from kernelcast.simcore.isa.analysis import control_flow, slices
from kernelcast.simcore.isa.ir.kernel import Instruction, Register
from kernelcast.simcore.launch.launch import Launch

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
LLVM_HEADER = 'target triple = "spir64-unknown-unknown"\n'
VARIABLE = "KERNELCAST_INSTRUCTIONS raises the limit"


def kernel(body: str, name: str = "k") -> str:
    return f".visible .entry {name}() {{ .reg .b32 %r<9>; .reg .pred %p<3>;\n{body}\nret; }}\n"


def straight(instructions: int) -> str:
    return "mov.u32 %r1, 1;\n" * instructions


def branches(basic_blocks: int) -> str:
    return "setp.eq.u32 %p1, 1, 1;\n" + "".join(
        f"@%p1 bra L{n};\nmov.u32 %r1, 1;\nL{n}:\n" for n in range(basic_blocks // 2)
    )


def llvm(body: str) -> str:
    return f"{LLVM_HEADER}define spir_kernel void @k(ptr addrspace(1) %p) {{\n{body}}}\n"


def reason(body: str) -> str:
    with pytest.raises(KernelcastError) as caught:
        kc.load_ptx(HEADER + kernel(body))["k"]
    return caught.value.message


def test_instructions_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 100)
    assert reason(straight(200)) == f"more than 100 instructions in a kernel ({VARIABLE})"
    many = "".join(kernel(straight(90), f"k{n}") for n in range(50))
    assert len(kc.load_ptx(HEADER + many)) == 50


def test_only_the_long_kernel_of_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 100)
    module = kc.load_ptx(HEADER + kernel(straight(200)) + kernel(straight(5), "short"))
    assert list(module) == ["short"]


def test_basic_blocks_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BASIC_BLOCKS", 100)
    assert reason(branches(300)) == f"more than 100 basic blocks in a kernel ({VARIABLE})"
    kc.load_ptx(HEADER + kernel(branches(80)))["k"]


def test_a_user_raises_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 100)
    monkeypatch.setattr(limits, "MOST_BASIC_BLOCKS", 25)
    monkeypatch.setenv("KERNELCAST_INSTRUCTIONS", "1000")
    kc.load_ptx(HEADER + kernel(straight(200) + branches(200)))["k"]
    assert "more than 1,000 instructions" in reason(straight(2000))
    assert "more than 250 basic blocks" in reason(branches(400))


def test_long_bodies_are_not_read_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows would be a mistake: nobody comes to it."""
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 100)
    monkeypatch.setattr(statement_parser, "_STATEMENTS_PER_LOOK", 64)
    with pytest.raises(KernelcastError) as caught:
        kc.load_ptx(HEADER + kernel(straight(600) + "mov.u32 %r1 !;"))
    assert caught.value.message.startswith("448 statements in the body of 'k': more than 100")


@pytest.mark.parametrize(
    "declaration", [".local .b8 big[1024];", ".shared .b8 big[32768];", ".reg .b64 %wide<140>;"]
)
def test_batches_of_the_reference_engine_fit_the_memory(
    declaration: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three thread blocks have about 96 KiB, four a little too much with their registers."""
    uses = "" if ".reg" in declaration else "mov.u32 %r2, big; st.u32 [big], %r2;"
    uses = uses.replace("st.", "st.local." if ".local" in declaration else "st.shared.")
    if not uses:
        uses = "\n".join(f"mov.u64 %wide{n}, {n};" for n in range(140))
    code = kc.load_ptx(HEADER + kernel(f"{declaration}\n{uses}"))["k"].kernel
    launch = Launch((8, 1, 1), (32, 1, 1), ())
    module = import_module("kernelcast.simcore.engine.reference.batch")
    monkeypatch.setattr(module, "_BATCH_BYTES", 1 << 17)
    told: list[float] = []
    execute(code, launch, engine="reference", listener=Listener(told.append))
    assert told[-1] == 1.0
    assert told[0] in (0.25, 0.375)


def test_slices_look_at_each_instruction_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many branches under one predicate that is written as often."""
    body = "".join(f"setp.eq.u32 %p1, 1, {n};\n@%p1 bra L{n};\nL{n}:\n" for n in range(100))
    code = kc.load_ptx(HEADER + kernel(body))["k"].kernel
    looked: list[Instruction] = []

    def reads(instruction: Instruction) -> tuple[Register, ...]:
        looked.append(instruction)
        return control_flow.reads(instruction)

    monkeypatch.setattr(slices, "reads", reads)
    assert len(slices.control_slice(code).pcs) == 100
    assert len(looked) == 100


def test_kernels_of_llvm_ir(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(body: str) -> str:
        module = read_llvm(llvm(body).encode(), "k.ll", is_text=True)
        return str(module.rejected["k"][0]) if module.rejected else ""

    body = "".join(f"%v{n} = load volatile i32, ptr addrspace(1) %p\n" for n in range(200))
    jumps = "".join(f"br label %b{n}\nb{n}:\n" for n in range(200))
    assert refusal(f"{body}{jumps}ret void\n") == ""
    monkeypatch.setattr(limits, "MOST_BASIC_BLOCKS", 100)
    assert "more than 100 basic blocks in a kernel" in refusal(f"{jumps}ret void\n")
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 100)
    assert "more than 100 instructions in a kernel" in refusal(f"{body}ret void\n")
