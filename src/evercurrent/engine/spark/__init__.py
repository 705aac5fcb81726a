"""The Spark engine: programs run over Spark, batch by batch, with durable state.

types        types and values on the way to Spark and back
literals     constants
expressions  terms to columns
calls        functions to columns
aggregates   aggregates that are read of a bag
segments     a state on disk: weighted files, and how they are read
files        the folder of a warehouse: names, writing, removing
log          the one commit point
frames       many small results in one job
rules        rules to DataFrames
keyed        functions of touched groups
fixpoint     recursion, in rounds that the driver counts
run          one transaction
backfill     new states over data that is there already
publish      views as ordinary Delta tables
session      the private session in which everything runs
"""
