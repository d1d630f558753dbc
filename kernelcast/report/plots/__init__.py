"""Pictures of results, by matplotlib, made without a window system.

One module a picture; `labels` places texts beside points. Imports the types of results.
"""
