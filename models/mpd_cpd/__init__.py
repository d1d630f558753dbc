"""Model `mpd-cpd`: Luo and Suda, memory and computation parallel degrees.

`equations` holds equations 1 to 13 under the paper's symbols, `model` applies them. Imports
`simcore` and no other model.
"""
