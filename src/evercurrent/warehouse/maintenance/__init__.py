"""One batch through all views: update, recompute, publish, notify, tidy up.

blame             which view failed, in which expression and for which row
evaluated_views   views that no program can keep
notifications     subscribers of a warehouse
program_parts     which part of the program moves by the change, and which is made anew
progress          what a long run is at, while it runs
publish           published views follow the commits
recompute         views that a batch recomputes
recompute_by_sql  A view computed by Spark's own SQL, over stored tables
retry             versions that only tidy up, and commits that go on over them
run_costs         what a run has cost each view, told after it
update            one batch through all views
upkeep            compaction and vacuum
"""
