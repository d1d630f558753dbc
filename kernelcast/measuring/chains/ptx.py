"""The kernel of a chain: a loop whose rounds time the same unrolled chain with the clock."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.measuring.chains.operations import LENGTHS, OPERANDS, Chain

__all__ = ["BUFFER_BYTES", "MEMORY_BYTES", "chain_kernel", "chain_ptx", "chain_steps"]

BUFFER_BYTES = 64
"""What a chain may address of shared memory, of constant memory and of global memory."""
MEMORY_BYTES = 8 * (1 + OPERANDS) + BUFFER_BYTES
"""Global memory: the start, the operands, and behind them what loads go to."""
_HEADER = f"""\
.version 7.0
.target sm_53
.address_size 64

.const .align 8 .b8 table[{BUFFER_BYTES}];
"""
_KERNEL = """
.visible .entry {kernel}(
    .param .u64 cycles_parameter,
    .param .u64 memory_parameter,
    .param .u32 rounds_parameter
)
.pragma "nounroll";
{{
    .reg .pred flag, again;
    .reg .b32 word, factor, rounds, round;
    .reg .b64 wide, cycles, values, memory, shared, constant, start, end;
    .reg .f64 wide_float;
    .reg .{register} x, y<{operands}>;
    .shared .align 8 .b8 buffer[{buffer_bytes}];

    ld.param.u64 cycles, [cycles_parameter];
    ld.param.u64 values, [memory_parameter];
    ld.param.u32 rounds, [rounds_parameter];
    add.u64 memory, values, {values_bytes};
    mov.u64 shared, buffer;
    mov.u64 constant, table;
    mov.u32 round, 0;
{loads}
{setup}
LOOP:
    bar.warp.sync 0xffffffff;
    mov.u64 start, %clock64;
{steps}
    mov.u64 end, %clock64;
    sub.u64 end, end, start;
    st.global.u64 [cycles], end;
    st.volatile.global.{type} [values], x;
    add.u64 cycles, cycles, 8;
    add.u32 round, round, 1;
    setp.lt.u32 again, round, rounds;
    @again bra LOOP;
    ret;
}}
"""


def chain_kernel(length: int) -> str:
    """The name of the kernel with that many steps."""
    return f"chain_{length}"


def chain_ptx(chain: Chain) -> str:
    """A module with one kernel for each of LENGTHS, called by `chain_kernel`.

    Its parameters: an array of 64-bit cycles, one for each round; memory with `Chain.values`;
    the number of rounds. It leaves the last value of the chain where the start was.
    """
    return _HEADER + "".join(_kernel(chain, length) for length in LENGTHS)


def _kernel(chain: Chain, length: int) -> str:
    return _KERNEL.format(
        kernel=chain_kernel(length),
        buffer_bytes=BUFFER_BYTES,
        operands=OPERANDS,
        values_bytes=8 * (1 + OPERANDS),
        register=chain.type if chain.type.startswith("f") else f"b{chain.type[1:]}",
        type=chain.type,
        loads="\n".join(_loads(chain)),
        setup=_lines(_filled(text, 0) for text in chain.setup),
        steps=_lines(chain_steps(chain, length)),
    )


def _loads(chain: Chain) -> Iterator[str]:
    for number, name in enumerate(("x", *(f"y{index}" for index in range(OPERANDS)))):
        yield f"    ld.volatile.global.{chain.type} {name}, [values+{8 * number}];"


def chain_steps(chain: Chain, length: int) -> Iterator[str]:
    """The statements of `length` steps, whose operands take turns."""
    for number in range(length):
        for text in chain.step:
            yield _filled(text, 2 * number)


def _filled(text: str, turn: int) -> str:
    return text.format(
        x="x",
        y=f"y{turn % OPERANDS}",
        z=f"y{(turn + 1) % OPERANDS}",
        shared="shared",
        constant="constant",
        memory="memory",
    )


def _lines(statements: Iterator[str]) -> str:
    return "\n".join(f"    {text}" for text in statements)
