"""What a check found: as text like a compiler's, as JSON, as SARIF for code hosts.

Begin at `text`; `records` makes JSON and `sarif` the interchange format. Imports
`simcore.checking.findings` and nothing that executes.
"""
