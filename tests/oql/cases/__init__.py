"""Named queries, one construct each, with answers worked out by hand on the graphs of `tests.oql.graphs`."""
