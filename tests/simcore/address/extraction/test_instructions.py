"""What single instructions, branches and loops make of extracted addresses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelcast as kc
from kernelcast.address.extraction import address_kernel
from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AddressExpression, variable
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.extraction.values import (
    Comparison,
    Condition,
    Relation,
    all_of,
    any_of,
    negated,
    truth,
)
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.launch.launch import Argument

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def of_ptx(
    tmp_path: Path, body: str, n: int = 1000, block: tuple[int, ...] = (128,), grid: int = 8
) -> AddressKernel:
    """A kernel of a buffer %to and a number %n; %i is the global thread index."""
    text = f"""{HEAD}
.visible .entry k(.param .u64 to, .param .u32 n)
{{
  .reg .pred %p<9>; .reg .b32 %r<30>, %n, %i; .reg .b64 %rd<30>, %to; .reg .f32 %f<9>;
  ld.param.u64 %to, [to]; ld.param.u32 %n, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %i, %r1, %r2, %r3;
{body}
DONE: ret;
}}
"""
    (tmp_path / "k.ptx").write_text(text)
    kernel = kc.load(tmp_path / "k.ptx")["k"]
    args: list[Argument] = [np.zeros(1 << 16, np.float32), n]
    return address_kernel(kernel, grid=grid, block=block, args=args, argument_names=("to", "n"))


STORE = "mul.wide.s32 %rd1, %r9, 4; add.s64 %rd2, %to, %rd1; st.global.f32 [%rd2], %f1;"


def stored(found: AddressKernel) -> list[AddressExpression]:
    return [access.offset for access in found.stores]


def bytes_of(text: str) -> AddressExpression:
    return address_expression(text) * 4


@pytest.mark.parametrize(
    ("body", "index"),
    [
        ("shl.b32 %r9, %i, 2;", "4*x"),
        ("sub.s32 %r9, %n, %i;", "n - x"),
        ("and.b32 %r4, %r3, 127; mad.lo.s32 %r9, %r1, %r2, %r4;", "x"),
        ("shl.b32 %r4, %r1, 7; or.b32 %r9, %r4, %r3;", "128*blockIdx.x + threadIdx.x"),
        ("shl.b32 %r4, %i, 3; add.s32 %r4, %r4, 5; and.b32 %r9, %r4, -8;", "8*x"),
        ("shl.b32 %r4, %i, 3; shr.u32 %r9, %r4, 2;", "2*x"),
        ("not.b32 %r4, %i; neg.s32 %r9, %r4;", "x + 1"),
        ("min.s32 %r9, %i, 5000;", "x"),
        ("max.s32 %r9, %i, -1;", "x"),
        ("div.s32 %r4, %n, 7; add.s32 %r9, %i, %r4;", "x + 142"),
        ("setp.gt.s32 %p1, %n, 10; selp.b32 %r4, 3, 4, %p1; mul.lo.s32 %r9, %i, %r4;", "3*x"),
        ("setp.eq.s32 %p1, %n, 10; @%p1 add.s32 %i, %i, 1; mov.u32 %r9, %i;", "x"),
    ],
)
def test_instructions(tmp_path: Path, body: str, index: str) -> None:
    assert stored(of_ptx(tmp_path, body + STORE)) == [bytes_of(index)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("and.b32 %r9, %i, 31;", "and.b32"),
        ("min.s32 %r9, %i, 500;", "min.s32"),
        ("mul.lo.s32 %r9, %r3, %r3;", "tid.x*tid.x"),
        ("mov.u32 %r9, %laneid;", "%laneid"),
        ("setp.lt.s32 %p1, %i, 9; selp.b32 %r9, %i, 7, %p1;", "selp.b32"),
        ("setp.lt.s32 %p1, %i, 9; mov.u32 %r9, 1; @%p1 mov.u32 %r9, %i;", "mov.u32"),
        ("ld.global.u32 %r9, [%to];", "data that ld.global.u32 reads"),
        ("mov.u32 %r9, %clock;", "%clock"),
        ("mov.u32 %r4, 1; shfl.sync.bfly.b32 %r9, %i, %r4, 31, -1;", "shfl.sync.bfly.b32"),
    ],
)
def test_instructions_that_are_not_affine(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(ModelNotApplicable, match=re.escape(reason)):
        of_ptx(tmp_path, body + STORE)


def test_tests_of_an_index_bound_the_domain_from_both_sides(tmp_path: Path) -> None:
    guard = "setp.lt.s32 %p1, %i, 2; @%p1 bra DONE; add.s32 %r4, %n, -3; "
    guard += "setp.ge.s32 %p2, %i, %r4; @%p2 bra DONE; mov.u32 %r9, %i;"
    found = of_ptx(tmp_path, guard + STORE)
    assert (found.origin, found.domain) == ((2, 0, 0), (997, 1, 1))


def test_an_unsigned_test_of_a_shifted_index_bounds_both_sides(tmp_path: Path) -> None:
    guard = "add.s32 %r4, %i, -2; setp.ge.u32 %p1, %r4, 900; @%p1 bra DONE; mov.u32 %r9, %i;"
    found = of_ptx(tmp_path, guard + STORE)
    assert (found.origin, found.domain) == ((2, 0, 0), (902, 1, 1))


def test_a_store_in_both_ways_of_a_branch_is_no_store_of_all_threads(tmp_path: Path) -> None:
    both = "setp.lt.s32 %p1, %i, 500; mov.u32 %r9, %i; @%p1 bra A; bra B; "
    body = both + f"A: {STORE} bra DONE; B: {STORE}"
    with pytest.raises(ModelNotApplicable, match="by some threads only"):
        of_ptx(tmp_path, body)


def test_what_few_threads_do_is_left_out(tmp_path: Path) -> None:
    few = "mov.u32 %r9, %i; " + STORE + " setp.ne.s32 %p1, %r3, 0; @%p1 bra DONE; mov.u32 %r9, %r1;"
    found = of_ptx(tmp_path, few + STORE, n=0)
    assert stored(found) == [bytes_of("x")]


def test_a_loop_over_a_parameter_has_a_variable(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r9, %i; mov.u32 %r10, 0; "
        f"LOOP: {STORE} add.s32 %r9, %r9, 1024; add.s32 %r10, %r10, 2; "
        "setp.lt.s32 %p1, %r10, %n; @%p1 bra LOOP;"
    )
    found = of_ptx(tmp_path, loop, n=63)
    (variable,) = found.loops
    assert variable.trips == 32
    (access,) = found.stores
    assert access.loops == (variable.name,)
    assert access.offset.substitute({variable.name: 5}) == bytes_of("x + 5120")


def test_a_test_at_the_top_of_a_loop_ends_it_before_the_last_pass(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r9, %i; mov.u32 %r10, 0; "
        f"LOOP: setp.ge.s32 %p1, %r10, 7; @%p1 bra DONE; {STORE} add.s32 %r9, %r9, 1024; "
        "add.s32 %r10, %r10, 1; bra LOOP;"
    )
    found = of_ptx(tmp_path, loop)
    assert [item.trips for item in found.loops if item.name in found.stores[0].loops] == [7]


def test_a_loop_whose_index_grows_unevenly_runs_trip_by_trip(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r10, 1; "
        f"LOOP: add.s32 %r9, %i, %r10; {STORE} shl.b32 %r10, %r10, 1; "
        "setp.le.s32 %p1, %r10, 64; @%p1 bra LOOP;"
    )
    wanted = [bytes_of(f"x + {2**power}") for power in range(7)]
    assert stored(of_ptx(tmp_path, loop)) == wanted


def test_trips_that_differ_among_threads_are_refused_unless_nearly_equal(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r9, %i; "
        f"LOOP: {STORE} add.s32 %r9, %r9, 1024; setp.lt.s32 %p1, %r9, %n; @%p1 bra LOOP;"
    )
    assert len(of_ptx(tmp_path, loop, n=8 * 1024).loops) == 1
    with pytest.raises(ModelNotApplicable, match="by some threads only"):
        of_ptx(tmp_path, loop, n=2 * 1024 - 500)


def test_floating_point_operations_are_counted_by_thread(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r9, %i; mov.u32 %r10, 0; "
        "LOOP: fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r10, %r10, 1; "
        f"setp.lt.s32 %p1, %r10, 10; @%p1 bra LOOP; add.f32 %f1, %f1, %f1; {STORE}"
    )
    assert of_ptx(tmp_path, loop).flops == 21.0


def test_shared_memory_is_left_out(tmp_path: Path) -> None:
    body = ".shared .b32 s[256]; mov.u32 %r4, s; st.shared.f32 [%r4], %f1; mov.u32 %r9, %i;"
    assert stored(of_ptx(tmp_path, body + STORE)) == [bytes_of("x")]


def test_expressions_keep_thread_block_size_and_parameters(tmp_path: Path) -> None:
    found = of_ptx(tmp_path, "mad.lo.s32 %r9, %i, %n, %r2;" + STORE)
    assert stored(found) == [bytes_of("n*x + blockDim.x")]
    other = found.with_block(64)
    form = other.stores[0].offset.bind(other.block, dict(other.parameters))
    assert form.value({"tid.x": 3, "ctaid.x": 2}) == 4 * (1000 * 131 + 64)


def test_a_way_that_this_launch_never_goes_ties_the_expressions_to_it(tmp_path: Path) -> None:
    body = (
        "setp.lt.s32 %p1, %r3, 32; mov.u32 %r9, %i; @%p1 bra A; "
        f"ld.global.u32 %r9, [%to]; A: {STORE}"
    )
    assert stored(of_ptx(tmp_path, body, block=(32,))) == [bytes_of("x")]
    with pytest.raises(ModelNotApplicable, match="data that"):
        of_ptx(tmp_path, body, block=(64,))


CONDITIONS = st.recursive(
    st.builds(
        Comparison,
        st.integers(-5, 5).map(lambda shift: variable("i") + shift),
        st.sampled_from(Relation),
    ),
    lambda inner: st.one_of(
        inner.map(negated),
        st.lists(inner, min_size=1, max_size=3).map(all_of),
        st.lists(inner, min_size=1, max_size=3).map(any_of),
    ),
)


def is_met(condition: Condition, i: int) -> bool:
    found = truth(condition, {"i": (i, i)})
    assert found is not None
    return found


@given(st.lists(CONDITIONS, min_size=1, max_size=3), st.integers(-8, 8))
def test_conditions_are_joined_and_negated_as_truth_values_are(
    conditions: list[Condition], i: int
) -> None:
    values = [is_met(condition, i) for condition in conditions]
    assert is_met(all_of(conditions), i) == all(values)
    assert is_met(any_of(conditions), i) == any(values)
    assert is_met(negated(conditions[0]), i) == (not values[0])
