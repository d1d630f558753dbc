"""Model `quantitative-roofline`: Konstantinidis, PhD thesis, Athens 2017.

`equations` holds equations 4.1 to 4.18 under the thesis's symbols, `model` applies them. Imports
`simcore` and no other model.
"""
