"""Studies: kernels x launches x devices x changed devices x models, as rows of a Parquet data set.

`plan` says what is varied and `plan_file` reads it; `tasks` makes rows of a part of it, `running`
hands the parts to processes or to a Dask cluster, `data_set` is the folder. `sensitivity`,
`fronts` and `findings` read what came out. Imports everything below the command line and reports.
"""
