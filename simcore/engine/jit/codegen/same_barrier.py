"""Native code that sees at once when warps with lanes apart wait at one and the same barrier."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.thread_block_shape import ThreadBlockShape

__all__ = ["same_barrier_function"]


def same_barrier_function(shape: ThreadBlockShape) -> str:
    """IR of `i1 (ptr contexts)`: whether all warps wait at one barrier.

    True if all warps that are not done wait as `mixed_state` says, and all their lanes at one
    barrier. Where not, the rules of `BarrierCheck` decide.
    """
    places, found = "", "%seen"
    for number, offset in enumerate(shape.mixed_offsets):
        places += f"""  %at.{number} = getelementptr i8, ptr %context, i64 {offset}
  %mask.{number} = load i64, ptr %at.{number}
  %some.{number} = icmp ne i64 %mask.{number}, 0
  %bit.{number} = select i1 %some.{number}, i64 {1 << number}, i64 0
  %found.{number} = or i64 {found}, %bit.{number}
"""
        found = f"%found.{number}"
    return f"""define internal i1 @wait_at_one_barrier(ptr %contexts) noinline {{
entry:
  br label %warp
warp:
  %n = phi i64 [ 0, %entry ], [ %n1, %next ]
  %seen = phi i64 [ 0, %entry ], [ %after, %next ]
  %offset = mul i64 %n, {shape.context_bytes}
  %context = getelementptr i8, ptr %contexts, i64 %offset
  %state = load i32, ptr %context
  switch i32 %state, label %no [ i32 -1, label %next i32 {shape.mixed_state}, label %waits ]
waits:
{places}  br label %next
next:
  %after = phi i64 [ %seen, %warp ], [ {found}, %waits ]
  %n1 = add i64 %n, 1
  %last = icmp eq i64 %n1, {shape.warps}
  br i1 %last, label %end, label %warp
end:
  %less = sub i64 %after, 1
  %others = and i64 %after, %less
  %is.one = icmp eq i64 %others, 0
  ret i1 %is.one
no:
  ret i1 false
}}
"""
