"""PTX text to kernels: `text` reads it, `legal` knows what PTX has, other rooms lower it.

`lowering.module` is the place to begin; `module_cache` keeps modules on disk. Imports `simcore.isa`
and `ptx_frontend.images`.
"""
