"""Subcommands that look for defects of a launch. They give a verdict as exit status.

Begin at `check`. Imports what all subcommands do.
"""
