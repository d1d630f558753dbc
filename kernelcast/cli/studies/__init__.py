"""Subcommands for studies: `sweep`, its report, and the explorer.

Each parses and calls `kernelcast.studies`. Nothing but the command line imports them.
"""
