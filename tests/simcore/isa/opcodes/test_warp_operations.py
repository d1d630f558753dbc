"""Operations across lanes, on both engines, against models in plain Python, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, and_, or_, xor
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import ExecutionError
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
Words = npt.NDArray[np.uint32]
GROUP = 32
FULL = 0xFFFFFFFF
Model = Callable[[int, list[int], int, int, list[int]], tuple[int, int]]
"""(lane, values, b, c, lanes that take part) -> (result, predicate), within one group."""


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


def shuffled(mode: str) -> Model:
    """The pseudocode of the PTX manual; a source that takes no part gives the lane's own value."""

    def model(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
        bval, cval, segment = b & 31, c & 31, c >> 8 & 31
        limit = (lane & segment) | (cval & ~segment & 31)
        if mode == "up":
            source = lane - bval
            inside = source >= limit
        elif mode == "down":
            source = lane + bval
            inside = source <= limit
        elif mode == "bfly":
            source = lane ^ bval
            inside = source <= limit
        else:
            source = (lane & segment) | (bval & ~segment & 31)
            inside = source <= limit
        if not inside:
            source = lane
        return values[source if source in together else lane], int(inside)

    return model


def voted(decide: Callable[[list[bool]], bool]) -> Model:
    def model(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
        return int(decide([bool(values[i] & 1) for i in together])), 0

    return model


def balloted(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
    return sum(1 << i for i in together if values[i] & 1), 0


def matched_any(
    lane: int, values: list[int], b: int, c: int, together: list[int]
) -> tuple[int, int]:
    return sum(1 << i for i in together if values[i] == values[lane]), 0


def matched_all(
    lane: int, values: list[int], b: int, c: int, together: list[int]
) -> tuple[int, int]:
    same = all(values[i] == values[lane] for i in together)
    return (sum(1 << i for i in together), 1) if same else (0, 0)


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def reduced(function: Callable[[list[int]], int]) -> Model:
    def model(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
        return function([values[i] for i in together]) & FULL, 0

    return model


def extremum(modifiers: str) -> Model:
    """A model of f32: -0 is below +0, NaN is left out unless `.NaN` is there (redux.sync)."""

    def model(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
        kept = 0x7FFFFFFF if "abs" in modifiers else FULL
        words = [values[i] & kept for i in together]
        numbers = [w for w in words if w & 0x7FFFFFFF <= 0x7F800000]
        if not numbers or ("NaN" in modifiers and len(numbers) < len(words)):
            return 0x7FFFFFFF, 0
        choose = min if "min" in modifiers else max
        return choose(numbers, key=lambda w: -(w & 0x7FFFFFFF) - 1 if w >> 31 else w), 0

    return model


def elected(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
    return min(together), int(lane == min(together))


def active(lane: int, values: list[int], b: int, c: int, together: list[int]) -> tuple[int, int]:
    return sum(1 << i for i in together), 0


PREDICATE = "and.b32 %r9, %r3, 1; setp.ne.u32 %p3, %r9, 0;"
AS_NUMBER = "selp.u32 %r7, 1, 0, %p4;"
FLOAT_MODIFIERS = ("", ".abs", ".NaN", ".abs.NaN")
HARD_FLOATS = (0, 1 << 31, 0x7FC00001, 0xFF800000, 0x7F800000, FULL, 1)
# what precedes the instruction, the instruction (guard and mask left out), what follows, its model
SYNCHRONISED: dict[str, tuple[str, str, str, Model]] = {
    **{
        f"shfl.{mode}": ("", f"shfl.sync.{mode}.b32 %r7|%p2, %r3, %r4, %r5", "", shuffled(mode))
        for mode in ("up", "down", "bfly", "idx")
    },
    "vote.all": (PREDICATE, "vote.sync.all.pred %p4, %p3", AS_NUMBER, voted(all)),
    "vote.any": (PREDICATE, "vote.sync.any.pred %p4, %p3", AS_NUMBER, voted(any)),
    "vote.uni": (
        PREDICATE,
        "vote.sync.uni.pred %p4, %p3",
        AS_NUMBER,
        voted(lambda held: len(set(held)) == 1),
    ),
    "vote.ballot": (PREDICATE, "vote.sync.ballot.b32 %r7, %p3", "", balloted),
    "not.ballot": (
        PREDICATE + "not.pred %p3, %p3;",
        "vote.ballot.sync.b32 %r7, !%p3",
        "",
        balloted,
    ),
    "match.any": ("", "match.any.sync.b32 %r7, %r3", "", matched_any),
    "match.any.b64": (
        "mov.b64 %rd9, {%r3, %r3};",
        "match.any.sync.b64 %r7, %rd9",
        "",
        matched_any,
    ),
    "match.all": ("", "match.all.sync.b32 %r7|%p2, %r3", "", matched_all),
    "redux.add": ("", "redux.sync.add.u32 %r7, %r3", "", reduced(lambda v: reduce(add, v))),
    "redux.min": ("", "redux.sync.min.u32 %r7, %r3", "", reduced(min)),
    "redux.max": ("", "redux.sync.max.u32 %r7, %r3", "", reduced(max)),
    "redux.min.s32": (
        "",
        "redux.sync.min.s32 %r7, %r3",
        "",
        reduced(lambda v: min(map(signed, v))),
    ),
    "redux.max.s32": (
        "",
        "redux.sync.max.s32 %r7, %r3",
        "",
        reduced(lambda v: max(map(signed, v))),
    ),
    "redux.and": ("", "redux.sync.and.b32 %r7, %r3", "", reduced(lambda v: reduce(and_, v))),
    "redux.or": ("", "redux.sync.or.b32 %r7, %r3", "", reduced(lambda v: reduce(or_, v))),
    "redux.xor": ("", "redux.sync.xor.b32 %r7, %r3", "", reduced(lambda v: reduce(xor, v))),
    **{
        f"redux.{name}" + (".f32" if "." not in name else ""): (
            "",
            f"redux.sync.{name}.f32 %r7, %r3",
            "",
            extremum(name),
        )
        for name in (f"{way}{more}" for way in ("min", "max") for more in FLOAT_MODIFIERS)
    },
    "elect": ("", "elect.sync %r7|%p2", "", elected),
}
UNSYNCHRONISED: dict[str, tuple[str, str, str, Model]] = {
    "shfl": ("", "shfl.bfly.b32 %r7|%p2, %r3, %r4, %r5", "", shuffled("bfly")),
    "vote.ballot": (PREDICATE, "vote.ballot.b32 %r7, %p3", "", balloted),
    "vote.any": (PREDICATE, "vote.any.pred %p4, %p3", AS_NUMBER, voted(any)),
    "activemask": ("", "activemask.b32 %r7", "", active),
}


def body(before: str, instruction: str, after: str) -> str:
    """Each thread reads its row (value, b, c, mask, flag) of `data` and writes two words."""
    return f"""
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r1, 20;
    add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd1+4];
    ld.global.u32 %r5, [%rd1+8]; ld.global.u32 %r6, [%rd1+12]; ld.global.u32 %r8, [%rd1+16];
    ld.param.u64 %rd3, [out]; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd3, %rd3, %rd4;
    setp.ne.u32 %p1, %r8, 0; setp.ne.u32 %p2, 0, 0; {before}
    {instruction}; {after} selp.u32 %r10, 1, 0, %p2;
    @%p1 st.global.u32 [%rd3], %r7; @%p1 st.global.u32 [%rd3+4], %r10; ret;"""


def random_rows(random: Random, threads: int, members: str) -> Words:
    """Few different values, so that some match; every active lane is a member of its mask."""
    few = [random.getrandbits(32) for _ in range(3)] + random.sample(HARD_FLOATS, 2)
    rows = np.zeros((threads, 5), np.uint32)
    for first in range(0, threads, GROUP):
        flags = random.choice((FULL, random.getrandbits(32), 1 << random.randrange(32)))
        parts = [random.getrandbits(32), FULL]
        shared = random.getrandbits(32) | flags
        alike = random.random() < 0.4
        for lane in range(min(GROUP, threads - first)):
            mask = {"full": FULL, "same": shared, "parted": parts[0]}[members]
            if members == "parted" and not mask >> lane & 1:
                mask = ~mask & FULL
            value = few[0] if alike else random.choice((*few, random.getrandbits(32)))
            clamp = random.choice((0, 31, 0x181F, 0x1C1F, 0x1000, random.getrandbits(13)))
            rows[first + lane] = (value, random.getrandbits(6), clamp, mask, flags >> lane & 1)
    return rows


def expected(rows: Words, model: Model, *, has_members: bool) -> Words:
    out = np.zeros((len(rows), 2), np.uint32)
    for first in range(0, len(rows), GROUP):
        group = [[int(x) for x in row] for row in rows[first : first + GROUP]]
        values = [row[0] for row in group]
        for lane, (_, b, c, mask, flag) in enumerate(group):
            if flag:
                together = [
                    i
                    for i, row in enumerate(group)
                    if row[4] and (not has_members or mask >> i & 1)
                ]
                out[first + lane] = model(lane, values, b, c, together)
    return out


@pytest.mark.drawn(24)
@pytest.mark.parametrize("name", SYNCHRONISED)
def test_synchronised_operations(run_ptx: Run, name: str) -> None:
    before, instruction, after, model = SYNCHRONISED[name]
    text = body(before, f"@%p1 {instruction}, %r6", after)
    random = Random(name)
    for members, width, threads in (
        ("full", 32, 100),
        ("same", 32, 100),
        ("parted", 32, 100),
        ("parted", 64, 160),
    ):
        rows = random_rows(random, threads, members)
        out = np.zeros((threads, 2), np.uint32)
        run_ptx(text, "u64 data, u64 out", [rows, out], block=threads, warp_width=width)
        np.testing.assert_array_equal(out, expected(rows, model, has_members=True))


@pytest.mark.parametrize("name", UNSYNCHRONISED)
@pytest.mark.parametrize("width", [32, 64])
def test_operations_of_whoever_is_there(run_ptx: Run, name: str, width: int) -> None:
    before, instruction, after, model = UNSYNCHRONISED[name]
    rows = random_rows(Random(name), 100, "full")
    out = np.zeros((100, 2), np.uint32)
    text = body(before, f"@%p1 {instruction}", after)
    run_ptx(text, "u64 data, u64 out", [rows, out], block=100, warp_width=width)
    np.testing.assert_array_equal(out, expected(rows, model, has_members=False))


@pytest.mark.drawn(16)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize(("b", "c"), [(1, 31), (3, 0), (8, 0x181F), (16, 0x101F), (5, 0x1C03)])
def test_shuffles_by_constants(run_ptx: Run, mode: str, b: int, c: int) -> None:
    """All lanes shuffle by a constant, with the mask of a whole warp."""
    rows = random_rows(Random(b * c), 64, "full")
    rows[:, 1:] = b, c, FULL, 1
    out = np.zeros((64, 2), np.uint32)
    text = body("", f"shfl.sync.{mode}.b32 %r7|%p2, %r3, {b}, {c}, -1", "")
    for width in (32, 64):
        run_ptx(text, "u64 data, u64 out", [rows, out], block=64, warp_width=width)
        np.testing.assert_array_equal(out, expected(rows, shuffled(mode), has_members=True))


def test_every_operation_has_a_model() -> None:
    tried = set(SYNCHRONISED) | set(UNSYNCHRONISED) | {"bar.warp"}
    assert {name for name, entry in WARP_OPCODES.items() if not entry.is_whole} <= tried


ADDRESS = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1];"""


def run_on(run: Run, text: str, data: Sequence[int], **launch: int) -> Words:
    """The words that a kernel leaves in place of `data`."""
    words = np.array(data, np.uint32)
    run(ADDRESS + text, "u64 data", [words], **launch)
    return words


def test_a_scan_by_shuffles(run_ptx: Run) -> None:
    steps = "".join(
        f"shfl.sync.up.b32 %r3|%p1, %r2, {1 << k}, 0, -1; @%p1 add.u32 %r2, %r2, %r3;"
        for k in range(5)
    )
    data = [Random(1).randrange(1000) for _ in range(128)]
    found = run_on(run_ptx, f"{steps} st.global.u32 [%rd1], %r2; ret;", data, block=128)
    sums = np.concatenate([np.cumsum(data[i : i + 32]) for i in range(0, 128, 32)])
    assert found.tolist() == sums.tolist()


def test_a_butterfly_reduction_in_a_loop(run_ptx: Run) -> None:
    """The distance is in a register."""
    text = """mov.u32 %r5, 16;
LOOP: shfl.sync.bfly.b32 %r3, %r2, %r5, 31, -1; add.u32 %r2, %r2, %r3; shr.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP;
    st.global.u32 [%rd1], %r2; ret;"""
    data = [Random(2).randrange(1000) for _ in range(64)]
    found = run_on(run_ptx, text, data, block=64)
    assert found.tolist() == [sum(data[:32])] * 32 + [sum(data[32:])] * 32


@pytest.mark.parametrize("width", [32, 64])
def test_a_compaction_by_ballot(run_ptx: Run, width: int) -> None:
    """Odd values move to the front of their 32 lanes, in order; also in halves of wide warps."""
    text = """and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 1;
    vote.sync.ballot.b32 %r4, %p1, 0xffffffff;
    mov.u32 %r5, %lanemask_lt; and.b32 %r6, %r4, %r5; popc.b32 %r7, %r6;
    and.b32 %r8, %r1, 0xffffffe0; add.u32 %r8, %r8, %r7;
    ld.param.u64 %rd3, [data]; mul.wide.u32 %rd4, %r8, 4; add.s64 %rd3, %rd3, %rd4;
    st.global.u32 [%rd1], 0; bar.warp.sync 0xffffffff; @!%p1 bra END;
    st.global.u32 [%rd3], %r2;
END: ret;"""
    data = [Random(3).randrange(100) for _ in range(96)]
    odd = [[x for x in data[i : i + 32] if x & 1] for i in range(0, 96, 32)]
    wanted = [x for warp in odd for x in (*warp, *([0] * (32 - len(warp))))]
    found = run_on(run_ptx, text, data, block=96, warp_width=width)
    assert found.tolist() == wanted


@pytest.mark.parametrize("mask", ["0xffff", "%r9"])
def test_a_branch_may_exchange_among_its_own_lanes(run_ptx: Run, mask: str) -> None:
    text = f"""setp.ge.u32 %p1, %r1, 16; @%p1 bra END; activemask.b32 %r9;
    shfl.sync.down.b32 %r3, %r2, 1, 31, {mask}; st.global.u32 [%rd1], %r3;
END: bar.warp.sync -1; ret;"""
    data = list(range(100, 132))
    assert run_on(run_ptx, text, data).tolist() == [*range(101, 116), 115, *range(116, 132)]


def test_lanes_that_returned_are_not_waited_for(run_ptx: Run) -> None:
    text = """setp.ge.u32 %p1, %r1, 20; @%p1 bra END;
    shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; st.global.u32 [%rd1], %r3;
END: ret;"""
    data = list(range(32))
    assert run_on(run_ptx, text, data).tolist() == [i ^ 1 if i < 20 else i for i in data]


@pytest.mark.parametrize(
    "instruction", ["shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", "bar.warp.sync -1"]
)
def test_members_that_went_another_way_are_an_error(run_ptx: Run, instruction: str) -> None:
    text = f"""setp.ge.u32 %p1, %r1, 4; @%p1 bra OTHER;
    {instruction};
OTHER: st.global.u32 [%rd1], %r2; ret;"""
    with pytest.raises(ExecutionError, match=r"went another way, thread \(0, 0, 0\)"):
        run_on(run_ptx, text, list(range(32)))


def test_narrow_warps_are_refused(run_ptx: Run) -> None:
    with pytest.raises(ExecutionError, match="takes 32 lanes together, warps have 16"):
        run_on(run_ptx, "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; ret;", [0] * 32, warp_width=16)


@pytest.mark.parametrize("width", [32, 64])
def test_lanes_are_numbered_within_their_group(run_ptx: Run, width: int) -> None:
    text = "mov.u32 %r3, %laneid; bar.warp.sync -1; st.global.u32 [%rd1], %r3; ret;"
    found = run_on(run_ptx, text, [0] * 64, block=64, warp_width=width)
    assert found.tolist() == [*range(32), *range(32)]


def test_a_vote_makes_a_branch_of_the_whole_warp(run_ptx: Run) -> None:
    """No instruction runs twice when all lanes go the way of their vote."""
    text = """setp.gt.u32 %p1, %r2, 50; vote.sync.any.pred %p2, %p1, -1; @!%p2 bra END;
    st.global.u32 [%rd1], 7;
END: ret;"""
    data = [0] * 63 + [60]
    words = np.array(data, np.uint32)
    trace = run_ptx(ADDRESS + text, "u64 data", [words], block=64)
    assert words.tolist() == [0] * 32 + [7] * 32
    assert {row.opcode for row in trace.instructions if row.kind == "warp"} == {"vote.any"}
