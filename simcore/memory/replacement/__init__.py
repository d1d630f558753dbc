"""Which way of a full set a new line takes: the role, its policies, and the list of them.

`role` says what a policy must define, `policies` lists those that there are, one line each, and
makes of them what the cache calls. Imports `memory` and `host`.
"""
