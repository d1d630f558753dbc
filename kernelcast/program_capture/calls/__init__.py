"""What the server does for each request, by what it is about.

Each module has a table of functions of a session and a request's words and bytes, which return the
bytes of the answer and raise CallError. `memory` is the place to begin. Imports `capture.session`
and what that imports.
"""
