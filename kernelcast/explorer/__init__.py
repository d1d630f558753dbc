"""The explorer: a page on loopback where a pasted kernel is estimated while it is written.

`server` takes requests and hands each to a process of its own (`isolation`), where `answering`
compiles, executes and estimates. Nothing that is pasted is trusted. Imports the API.
"""
