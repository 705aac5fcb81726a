"""A database on Spark: the same statements and handles as inside the process, over durable, versioned data.

core          the catalog, the program and the present version; every change goes through `commit`
definitions   CREATE and DROP, kept as texts in every version
filling       the stores of another catalog: what is kept, and what is computed anew
partial       the few stored rows that a change touches, for its constraints
applying      change feeds on their way into a version, refused as a whole or parted
judging       which changes break a constraint, and what is left without them
trials        which changes make an assertion false, found by trying
quarantine    where changes that are set aside go, and how they leave
bulk          changes too large for the driver
strategies    per batch and view: by the change or from scratch, and why
estimates     what either way would read and write
parts         which part of the program moves, and which is made anew
moving        one batch through all views
outside       views that no program keeps
accounts      what a run has cost each view
record        what a run did, to be printed
monitors      who is told of a version
progress      what a long run is at
explaining    how views are kept, and what a batch would do
queries       a query, once, from scratch
handles       the tables and views that users hold
sources       tables that others write; `refresh` takes their changes in
publish       views as ordinary Delta tables
upkeep        compaction and vacuum
checking      is everything that lies there what was written
repairing     what is damaged is rebuilt from what is whole
verify        recompute with Spark's own SQL and compare
why           the base rows of a view's row
database      the public face
"""
