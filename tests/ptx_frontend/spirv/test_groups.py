"""SPIR-V: what the work-items of a work-group or sub-group do together, against NumPy."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)
X, LANE = assembly.X, np.arange(assembly.THREADS)
SETTINGS = "\n".join(f"OpCapability {number}" for number in (61, 62, 63, 64, 65, 66, 67, 6400))


def results(body: str) -> Any:
    """One work-group of one warp; `%lane` is the place of the work-item, `%odd` whether x is."""
    return assembly.results(
        f"""%lane = OpUConvert %i32 %n
        %bit = OpBitwiseAnd %i32 %x %c1
        %odd = OpINotEqual %bool %bit %c0
        {body}""",
        settings=SETTINGS,
    )


def as_number(boolean: str) -> str:
    return f"{boolean}\n%r = OpSelect %i32 %b %c1 %c0"


WRAPPED = np.cumsum(X, dtype=np.int32)
ODD = (X & 1).astype(bool)
MASK = int((ODD.astype(np.uint64) << LANE.astype(np.uint64)).sum())
VALUES: dict[str, Any] = {
    "%r = OpGroupIAdd %i32 %c2 0 %x": np.full(32, WRAPPED[-1]),
    "%r = OpGroupSMin %i32 %c2 1 %x": np.minimum.accumulate(X),
    "%r = OpGroupUMax %i32 %c3 0 %x": np.full(32, X.view(np.uint32).max()).view(np.int32),
    "%r = OpGroupIMulKHR %i32 %c3 1 %c2": (2 << LANE.astype(np.uint32)).view(np.int32),
    "%r = OpGroupBitwiseXorKHR %i32 %c2 0 %x": np.full(32, np.bitwise_xor.reduce(X)),
    "%r = OpGroupBroadcast %i32 %c2 %x %c7": np.full(32, X[7]),
    "%r = OpGroupNonUniformIAdd %i32 %c3 1 %x": WRAPPED,
    "%r = OpGroupNonUniformSMax %i32 %c3 2 %x": [-(2**31), *np.maximum.accumulate(X)[:-1]],
    "%r = OpGroupNonUniformBitwiseOr %i32 %c3 3 %x %c2": np.repeat(X[::2] | X[1::2], 2),
    "%r = OpGroupNonUniformShuffleXor %i32 %c3 %x %c7": X[LANE ^ 7],
    "%r = OpGroupNonUniformBroadcast %i32 %c3 %x %c7": np.full(32, X[7]),
    "%r = OpGroupNonUniformBroadcastFirst %i32 %c3 %x": np.full(32, X[0]),
    "%r = OpGroupNonUniformRotateKHR %i32 %c3 %x %c3": X[(LANE + 3) % 32],
    "%r = OpSubgroupReadInvocationKHR %i32 %x %c7": np.full(32, X[7]),
    "%r = OpSubgroupShuffleINTEL %i32 %x %c7": np.full(32, X[7]),
    "%m = OpGroupNonUniformBallot %v4 %c3 %odd\n%r = OpCompositeExtract %i32 %m 0": np.full(
        32, MASK, np.uint32
    ).view(np.int32),
    "%m = OpSubgroupBallotKHR %v4 %odd\n%r = OpGroupNonUniformBallotBitCount %i32 %c3 2 %m": (
        np.cumsum(ODD) - ODD
    ),
    as_number("%b = OpGroupNonUniformElect %bool %c3"): LANE == 0,
    as_number("%b = OpGroupNonUniformAny %bool %c3 %odd"): np.ones(32),
    as_number("%b = OpSubgroupAllKHR %bool %odd"): np.zeros(32),
    as_number("%b = OpGroupNonUniformAllEqual %bool %c3 %c7"): np.ones(32),
    as_number("%b = OpGroupNonUniformLogicalXor %bool %c3 1 %odd"): np.cumsum(ODD) & 1,
    as_number("%b = OpGroupLogicalAndKHR %bool %c2 0 %odd"): np.zeros(32),
    as_number(
        "%m = OpSubgroupBallotKHR %v4 %odd\n%b = OpGroupNonUniformInverseBallot %bool %c3 %m"
    ): ODD,
}


@pytest.mark.parametrize("body", VALUES)
def test_values(body: str) -> None:
    assert np.array_equal(results(body), np.asarray(VALUES[body]).astype(np.int64))


def test_inside_a_branch() -> None:
    """Only the work-items that came here take part."""
    body = """
        OpSelectionMerge %end 0
        OpBranchConditional %odd %then %end
        %then = OpLabel
        %sum = OpGroupNonUniformIAdd %i32 %c3 0 %x
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %i32 %sum %then %c0 %entry"""
    wanted = np.where(ODD, X[ODD].sum(dtype=np.int32), 0)
    assert np.array_equal(results(body), wanted)
