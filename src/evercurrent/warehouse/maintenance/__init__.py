"""From valid changes to the next version: update, recompute, commit, publish, notify, compact.

assertions        assertions after a change
blame             which view failed, in which expression and for which row
called_functions  which functions the definitions of a warehouse call, and which of them the program has not handed over
catch_up          reading deferred views
changes_listed    what versions list of a view: its rows, and its changes after a version
commit            the one way in which a batch becomes a version
effect            what a batch does to the stores of a version
evaluated_views   views that no program can keep
fill_stores       the stores of another catalog
notifications     subscribers of a warehouse
publish           published views follow the commits
publish_merged    views that are merged into tables of others
publish_places    where views may be published outside of the warehouse: folders, and addresses in object stores
recompute         views that a batch recomputes
recompute_by_sql  a view computed by Spark's own SQL, over stored tables
retry             versions that are mere upkeep, and commits that are repeated over them
run_costs         what a run has cost each view, in hindsight
update            one batch through all views
upkeep            compaction and vacuum
views_by_spark    views that only Spark understands
"""
