"""The part of a SPIR-V module before its functions: words, settings, types, constants, decorations.

`module_reader` is the place to begin. Imports nothing of simcore.
"""
