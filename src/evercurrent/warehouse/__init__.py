"""A database on Spark: the same statements and handles as inside the process, over durable, versioned data.

core          the catalog, the program and the present version; every change goes through `commit`
definitions   CREATE and DROP, kept as texts in every version
partial       the few stored rows that a change touches, for its constraints
changes       rows, frames and feeds on their way into a transaction
bulk          changes too large for the driver
queries       a query, once, from scratch
handles       the tables and views that users hold
record        what a run did, to be printed
publish       views as ordinary Delta tables
upkeep        compaction and vacuum
verify        recompute with Spark's own SQL and compare
database      the public face
"""
