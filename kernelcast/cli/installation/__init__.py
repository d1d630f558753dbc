"""Commands about the installation: `doctor`, `tools`, `cache`.

`doctor` is the place to begin: what is there, and what the rest would add. Imports the reports and
the terminal of the command line.
"""
