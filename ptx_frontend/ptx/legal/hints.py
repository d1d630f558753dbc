"""Which fences and hints PTX has: instructions that change no value.

PTX ISA 9.0, `membar`, `fence`, `prefetch`, `discard`, `applypriority`, `nanosleep`, `pmevent` and
`griddepcontrol`, and what the vendor's assembler takes of them. The order of modifiers does not
count here.
"""

from __future__ import annotations

__all__ = ["HINT_BYTES", "HINT_ROOTS", "missing_of_hint", "operand_counts"]

HINT_BYTES = 128
"""What those with a size are always for."""
_SCOPES = ("cta", "cluster", "gpu", "sys")
_ORDERS = ("sc", "acq_rel", "acquire", "release")
_BARE = (
    *("membar.cta", "membar.gl", "membar.sys", "membar.proxy.alias", "membar.proxy.async"),
    *(f"fence.{scope}" for scope in _SCOPES),
    *(f"fence.{order}.{scope}" for order in _ORDERS for scope in _SCOPES),
    "fence.mbarrier_init.release.cluster",
    *("fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global"),
    *("fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster"),
    *(f"fence.proxy.async::generic.acq_rel.{scope}" for scope in _SCOPES),
    *(
        f"fence{proxy}.{restricted}.cluster"
        for proxy in ("", ".proxy.async::generic")
        for restricted in (
            "acquire.sync_restrict::shared::cluster",
            "release.sync_restrict::shared::cta",
        )
    ),
    *(
        f"fence.proxy.async::generic.acq_rel.sync_restrict::shared::{space}.{scope}"
        for space in ("cta", "cluster")
        for scope in _SCOPES
    ),
    *("griddepcontrol.wait", "griddepcontrol.launch_dependents"),
)
_WITH_ONE = (
    *("nanosleep.u32", "pmevent", "pmevent.mask", "prefetchu.L1"),
    *(f"prefetch{space}.{level}" for space in ("", ".global", ".local") for level in ("L1", "L2")),
    *(f"prefetch{space}.tensormap" for space in ("", ".const", ".param")),
    *(f"prefetch{space}.L2::evict_last" for space in ("", ".global")),
    *(f"prefetch{space}.L2::evict_normal" for space in ("", ".global")),
)
_WITH_SIZE = (
    *("discard.L2", "discard.global.L2"),
    *("applypriority.L2::evict_normal", "applypriority.global.L2::evict_normal"),
)
_TENSORMAP = "fence.proxy.tensormap::generic"


def _parts(mnemonic: str) -> tuple[str, ...]:
    return tuple(sorted(mnemonic.split(".")))


_OPERANDS = {
    **{_parts(name): (0,) for name in _BARE},
    **{_parts(name): (1,) for name in _WITH_ONE},
    **{_parts(name): (2,) for name in _WITH_SIZE},
    **{
        _parts(f"{_TENSORMAP}.{order}.{scope}"): counts
        for order, counts in {"acquire": (2,), "release": (0,), "acq_rel": (0, 2)}.items()
        for scope in _SCOPES
    },
}
_NAMES = frozenset(part for parts in _OPERANDS for part in parts)
HINT_ROOTS = frozenset(name.split(".")[0] for name in (*_BARE, *_WITH_ONE, *_WITH_SIZE))


def operand_counts(mnemonic: str) -> tuple[int, ...]:
    """How many operands it may have; empty when PTX has no such instruction."""
    return _OPERANDS.get(_parts(mnemonic), ())


def missing_of_hint(mnemonic: str) -> str:
    """Why there is no such instruction."""
    scopes = [f".{scope}" for scope in _SCOPES if operand_counts(f"{mnemonic}.{scope}")]
    if scopes:
        return f"it needs a scope, {' or '.join(scopes)}"
    foreign = [part for part in mnemonic.split(".") if part not in _NAMES]
    return f"modifier '.{foreign[0]}'" if foreign else "its modifiers do not fit together"
