"""Results as text, records and pictures. Reports compute nothing and print nothing.

One module a subject; pictures are in `plots`. Imports the types of results.
"""
