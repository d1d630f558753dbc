"""Pages of HTML that stand for themselves: one file, no network, charts that can be looked into.

`page` is the place to begin: the shell of any page, with sortable tables and charts. `report` makes
the page of estimates of the record that `--json` prints. Templates, style and scripts lie in
`templates`; Jinja2 escapes what they show, which may be anybody's. Imports the records and plotly's
JavaScript, nothing of the pipeline.
"""
