"""The compiled walk of one SM from issue to issue, and the arrays that it works on.

`sm_cycles` is the loop, `scheduling_policy` chooses the warp (`choose`; `sm_reads` says what it may
ask, `look_ahead` is for speed), `memory_requests` goes through the caches, the accounts say where
every slot went. Imports `timing.kernel`, `device` and `host`.
"""
