"""What an estimate stands on, in numbers: the part `details` of records, which pages show.

`record` is the place to begin; `levels` has rates and memory, `slots` where the cycles go,
`instructions` the listing with what each line costs. Imports models and profiles, no page: what a
page shows is what `estimate --json -v` prints.
"""
