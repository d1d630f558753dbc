"""Studies as text, records and pages: a sweep's run and findings, a search for a change.

`page` draws charts with the shell of `report.html`. Imports `studies` and the tables of reports.
"""
