"""Programs of many launches as a page: totals, time by kernel, the time line.

`overview` is the place to begin. Imports `kernelcast.report.html` and what programs became.
"""
