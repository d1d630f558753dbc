"""Each pass of the static pre-pass alone, on kernels of a few instructions."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.kernel import Kernel, Load
from kernelcast.simcore.isa.schedule.dependences import dependences
from kernelcast.simcore.isa.schedule.fold_addresses import folded_addresses
from kernelcast.simcore.isa.schedule.hoist_loads import hoisted
from kernelcast.simcore.isa.schedule.predicate_branches import predicated_edges
from kernelcast.simcore.isa.schedule.pressure import liveness, pressures
from kernelcast.simcore.isa.schedule.region import Region, region_of
from kernelcast.simcore.isa.schedule.register_estimate import estimated_registers
from kernelcast.simcore.isa.schedule.register_facts import register_facts
from kernelcast.simcore.isa.schedule.share_invariants import shared_sequences
from kernelcast.simcore.isa.schedule.unroll_loops import unrolled_loops


def kernel_of(body: str) -> Kernel:
    """A kernel with pointers %p and %q, a number %n and floats %f and %g at hand."""
    text = f""".version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {{
  .reg .b64 %p, %q, %d<9>; .reg .b32 %n, %i, %t, %r<9>; .reg .f32 %f, %g, %v<40>; .reg .pred %z, %y;
  ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; ld.param.u32 %n, [n];
  cvta.to.global.u64 %p, %p; cvta.to.global.u64 %q, %q;
  mov.u32 %t, %tid.x; cvt.rn.f32.u32 %f, %t; mov.f32 %g, %f; mov.u32 %i, 0;
{body}
  st.global.f32 [%q], %g; ret;
}}
"""
    return read_ptx(text, "k.ptx").kernels["k"]


def region(kernel: Kernel) -> Region:
    return region_of(kernel, range(len(kernel.instructions)), frozenset())


def early_loads(kernel: Kernel, limit: int) -> list[int]:
    """Places of loads of global memory in the order that `limit` registers allow."""
    found = region(kernel)
    live = liveness(found, (), register_facts(kernel).words)
    source = list(range(len(found.steps)))
    order = hoisted(found, dependences(found), live, source, limit)
    assert sorted(order) == source
    assert max(pressures(found, order, live)) <= max(limit, *pressures(found, source, live))
    places = [
        place for place, position in enumerate(order) if is_load(kernel.instructions[position])
    ]
    return [place - places[0] for place in places]


def is_load(instruction: object) -> bool:
    return isinstance(instruction, Load) and instruction.address.space.value == "global"


SUMS = "".join(
    f"ld.global.f32 %v{n}, [%p+{4 * n}]; fma.rn.f32 %g, %v{n}, %f, %g;\n" for n in range(8)
)


def test_loads_rise_to_one_another_where_registers_are_left() -> None:
    assert early_loads(kernel_of(SUMS), 64) == list(range(8))


def test_without_registers_loads_stay() -> None:
    assert early_loads(kernel_of(SUMS), 0) == list(range(0, 16, 2))


@pytest.mark.parametrize(
    ("store", "load", "passes"),
    [
        ("st.global.f32 [%q+8], %f;", "ld.global.f32 %v1, [%p+8];", False),
        ("st.global.f32 [%q+8], %f;", "ld.global.nc.f32 %v1, [%p+8];", True),
        ("st.global.f32 [%p+4], %f;", "ld.global.f32 %v1, [%p+8];", True),
        ("st.global.v2.f32 [%p+4], {%f, %f};", "ld.global.f32 %v1, [%p+8];", False),
        ("st.shared.f32 [%t], %f;", "ld.global.f32 %v1, [%p+8];", True),
        ("membar.gl;", "ld.global.f32 %v1, [%p+8];", False),
    ],
)
def test_loads_pass_what_cannot_change_them(store: str, load: str, passes: bool) -> None:
    kernel = kernel_of(f"ld.global.f32 %v0, [%p];\n{store}\n{load}\nadd.f32 %g, %v0, %v1;")
    assert (early_loads(kernel, 64)[1] == 1) == passes


LOOP = """
  setp.lt.s32 %z, %n, 1; @%z bra E;
B: {head}
  {body}
  add.s64 %p, %p, 4; add.s32 %i, %i, 1; setp.lt.s32 %z, %i, %n; @%z bra B;
E:
"""


@pytest.mark.parametrize(
    ("head", "body", "is_unrolled"),
    [
        ("", "ld.global.f32 %v0, [%p]; fma.rn.f32 %g, %v0, %f, %g;", True),
        ('.pragma "nounroll";', "ld.global.f32 %v0, [%p]; fma.rn.f32 %g, %v0, %f, %g;", False),
        ("", "setp.gt.f32 %y, %g, %f; @%y bra E; add.f32 %g, %g, %f;", False),
        ("", "sqrt.rn.f32 %g, %g;", False),
        ("", "fma.rn.f32 %g, %f, %f, %g;" * 44, True),
        ("", "fma.rn.f32 %g, %f, %f, %g;" * 60, False),
    ],
)
def test_small_counted_loops_are_unrolled(head: str, body: str, is_unrolled: bool) -> None:
    kernel = kernel_of(LOOP.format(head=head, body=body))
    assert bool(unrolled_loops(kernel)) == is_unrolled


def test_only_the_last_iteration_counts_and_branches() -> None:
    kernel = kernel_of(LOOP.format(head="", body="ld.global.f32 %v0, [%p];"))
    (dropped,) = unrolled_loops(kernel).values()
    assert {kernel.instructions[pc].mnemonic for pc in dropped} == {
        "add.s64",
        "add.s32",
        "setp.lt.s32",
        "bra",
    }


@pytest.mark.parametrize(
    ("skipped", "is_predicated"),
    [
        ("fma.rn.f32 %g, %f, %f, %g;" * 8, True),
        ("fma.rn.f32 %g, %f, %f, %g;" * 9, False),
        ("st.global.f32 [%p], %f;" * 4, True),
        ("red.global.add.f32 [%p], %f;", False),
        ("shfl.sync.bfly.b32 %g, %g, 1, 31, -1;", False),
        ("sqrt.rn.f32 %g, %g;", False),
    ],
)
def test_short_branches_are_predicated(skipped: str, is_predicated: bool) -> None:
    kernel = kernel_of(f"setp.gt.f32 %z, %f, 0f41000000; @%z bra S;\n{skipped}\nS:")
    assert bool(predicated_edges(kernel)) == is_predicated


def folded(kernel: Kernel) -> list[str]:
    return [kernel.instructions[pc].mnemonic for pc in sorted(folded_addresses(kernel))]


def test_constants_of_addresses_become_offsets() -> None:
    both = "add.s64 %d0, %p, 64; ld.global.f32 %v0, [%d0]; add.f32 %g, %g, %v0;"
    assert folded(kernel_of(both)) == ["add.s64"]
    stored = both + "st.global.u64 [%q+8], %d0;"
    assert folded(kernel_of(stored)) == []
    far = both.replace("64; ld", f"{1 << 24}; ld")
    assert folded(kernel_of(far)) == []


def test_a_product_is_part_of_the_sums_that_it_is_added_to() -> None:
    index = "mul.wide.u32 %d0, %t, 4; add.s64 %d1, %p, %d0; ld.global.f32 %g, [%d1];"
    assert folded(kernel_of(index)) == ["mul.wide.u32"]
    assert folded(kernel_of(index + "st.global.u64 [%q+8], %d0;")) == []


def test_a_second_division_by_the_same_number_has_its_reciprocal() -> None:
    kernel = kernel_of(
        "div.u32 %r0, %t, %n; rem.u32 %r1, %i, %n; rem.u32 %r2, %r0, %n; div.u32 %r3, %n, %t;"
        "st.global.u32 [%q+4], %r2; st.global.u32 [%q+8], %r3; st.global.u32 [%q+12], %r1;"
    )
    names = {kernel.instructions[pc].mnemonic: name for pc, name in shared_sequences(kernel)}
    assert names == {"rem.u32": "rem.u32.shared"}
    assert len(shared_sequences(kernel)) == 2


def test_estimates_grow_to_a_step_of_occupancy_and_no_further() -> None:
    """Twelve loads of one register each fit, thirty-six fill the 32 that cost no warp."""
    few, many = (
        kernel_of(
            "".join(f"ld.global.nc.f32 %v{n}, [%p+{4 * n}];" for n in range(count))
            + "".join(f"fma.rn.f32 %g, %v{n}, %f, %g;" for n in range(count))
        )
        for count in (12, 36)
    )
    assert 12 < estimated_registers(few) < 24
    assert 28 < estimated_registers(many) <= 32
