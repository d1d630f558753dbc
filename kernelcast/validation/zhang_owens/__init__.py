"""The case studies of Zhang and Owens (HPCA 2011), executed.

`case_studies` is the place to begin. Imports what `kernelcast.validation` may import.
"""
