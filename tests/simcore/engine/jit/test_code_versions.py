"""Kernels that run with ever other integers are compiled a few times, not each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernelcast.simcore.engine.jit.runtime.run as jit_run
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.runtime.code_versions import MOST_SPECIAL_VERSIONS
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace
from tests.simcore.trace_comparison import assert_same_trace

PARAMETERS = "u64 out, u32 n, u32 k, u64 stride"
BODY = """
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k];
    ld.param.u64 %rd2, [stride];
    mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r3, %r4, 64, %r3;
    add.u32 %r5, %r3, %r2;
    setp.ge.u32 %p1, %r5, %r1; @%p1 bra END;
    cvt.u64.u32 %rd3, %r5; mul.lo.u64 %rd3, %rd3, %rd2; add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r6, [%rd4]; add.u32 %r6, %r6, %r2; st.global.u32 [%rd4], %r6;
END: ret;
"""
Compile = Callable[..., Kernel]


@pytest.fixture
def constants(monkeypatch: pytest.MonkeyPatch) -> list[dict[int, int]]:
    """Offset and value of the integers that each compilation had as constants."""
    found: list[dict[int, int]] = []
    generate = vars(jit_run)["generate"]

    def noted(kernel: Kernel, facts: LaunchFacts, *others: Any, **named: Any) -> Any:
        found.append({offset: value for offset, _, value in facts.integers})
        return generate(kernel, facts, *others, **named)

    monkeypatch.setattr(jit_run, "generate", noted)
    return found


def run(
    kernel: Kernel, out: np.ndarray[Any, Any], n: int, k: int, stride: int = 4, grid: int = 4
) -> Trace:
    launch = Launch((grid, 1, 1), (64, 1, 1), (out, n, k, stride))
    return execute(kernel, launch, engine="jit")


def test_what_changes_each_time_is_read_and_the_rest_stays_constant(
    compile_ptx: Compile, constants: list[dict[int, int]]
) -> None:
    kernel, out = compile_ptx(BODY, PARAMETERS), np.zeros(256, np.uint32)
    expected = np.zeros(256, np.uint32)
    for k in range(40):
        run(kernel, out, 200, k)
        expected[k:200] += k
    assert out.tolist() == expected.tolist()
    assert len(constants) == MOST_SPECIAL_VERSIONS + 1
    assert constants[0] == {8: 200, 12: 0, 16: 4}
    assert constants[-1] == {8: 200, 16: 4}


def test_another_number_that_changes_takes_one_more_version(
    compile_ptx: Compile, constants: list[dict[int, int]]
) -> None:
    kernel, out = compile_ptx(BODY, PARAMETERS), np.zeros(256, np.uint32)
    for n in (200, 100, 150, 200):
        for k in range(8):
            run(kernel, out, n, k)
    assert len(constants) == MOST_SPECIAL_VERSIONS + 2
    assert constants[-1] == {16: 4}


def test_values_that_were_compiled_keep_their_code(
    compile_ptx: Compile, constants: list[dict[int, int]]
) -> None:
    kernel, out = compile_ptx(BODY, PARAMETERS), np.zeros(256, np.uint32)
    for k in (0, 1, 2, 3, 4, 2, 1, 0):
        run(kernel, out, 200, k)
    assert len(constants) == MOST_SPECIAL_VERSIONS + 1


def test_a_version_that_reads_its_numbers_leaves_the_same_trace(compile_ptx: Compile) -> None:
    known, other = compile_ptx(BODY, PARAMETERS), compile_ptx(BODY, PARAMETERS)
    out = np.zeros(256, np.uint32)
    for k in range(8):
        run(known, out, 200, k)
    read, constant = run(known, out, 190, 17), run(other, out, 190, 17)
    assert_same_trace(read, constant)


GRID = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;
    mul.wide.u32 %rd1, %r6, 4; ld.param.u64 %rd2, [out]; add.u64 %rd3, %rd2, %rd1;
    mad.lo.u32 %r7, %r3, 1000, %r2; mad.lo.u32 %r7, %r7, 1000, %r1;
    st.global.u32 [%rd3], %r7; ret;
"""


def test_grids_that_grow_need_little_other_code(
    compile_ptx: Compile, constants: list[dict[int, int]]
) -> None:
    kernel = compile_ptx(GRID)
    for x in (*range(1, 20), 64, 65):
        out = np.zeros(x * 6, np.uint32)
        execute(kernel, Launch((x, 3, 2), (1, 1, 1), (out,)), engine="jit")
        z, y, along = np.meshgrid(range(2), range(3), range(x), indexing="ij")
        assert out.tolist() == ((z * 1000 + y) * 1000 + along).reshape(-1).tolist()
    assert len(constants) == MOST_SPECIAL_VERSIONS + 3  # up to 8, 64 and 512


def test_all_axes_may_change(compile_ptx: Compile, constants: list[dict[int, int]]) -> None:
    kernel = compile_ptx(GRID)
    for grid in ((2, 3, 4), (3, 4, 2), (4, 2, 3), (5, 7, 6), (8, 8, 8), (2, 2, 7)):
        out = np.zeros(int(np.prod(grid)), np.uint32)
        execute(kernel, Launch(grid, (1, 1, 1), (out,)), engine="jit")
        places = np.indices(grid[::-1])
        expected = (places[0] * 1000 + places[1]) * 1000 + places[2]
        assert out.tolist() == expected.reshape(-1).tolist()
    assert len(constants) == MOST_SPECIAL_VERSIONS + 1


def test_a_version_that_reads_its_grid_leaves_the_same_trace(compile_ptx: Compile) -> None:
    known, other = compile_ptx(BODY, PARAMETERS), compile_ptx(BODY, PARAMETERS)
    out = np.zeros(512, np.uint32)
    for grid in range(2, 8):
        run(known, out, 400, 0, grid=grid)
    read, constant = run(known, out, 400, 0, grid=5), run(other, out, 400, 0, grid=5)
    assert_same_trace(read, constant)
