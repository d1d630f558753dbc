"""The two passes over the accesses: what they ask for, and what the caches make of it.

`line_requests` is what one pass hands to the other, `stage` the thread of the second one,
`two_passes` runs both. Imports `memory` and `host`.
"""
