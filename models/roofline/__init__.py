"""Model `roofline`: Williams et al. 2009, with a roof for each memory level (Yang 2020).

`ceilings` says what a kernel asks of each roof, `model` which one binds. Imports `simcore` and no
other model.
"""
