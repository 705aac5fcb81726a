"""The Spark engine: programs run over Spark, batch by batch, with durable state.

types        types and values on the way to Spark and back
literals     constants
expressions  terms to columns
calls        functions to columns
zeros        columns without -0.0
aggregates   aggregates that are read of a bag
kept         a state on disk and in flight: weighted segments, and how they are read
layout       by which columns a store's files are sorted
heads        the first rows of an order, without the rest
lookup       of a file only what can hold certain keys
mapped       copies of sorted files from which single rows can be read
pool         entries by key, read by the driver
disk         every access to files; what fails names the file
checksums    checksums of files, by blocks
documents    the log's JSON with a digest of itself
files        the folder of a warehouse: names, writing, removing, and what is known of each file
log          the one commit point
frames       many small results in one job
rules        rules to DataFrames
keyed        functions of touched groups
fixpoint     recursion, in rounds that the driver counts
rounds       the same in rounds of jobs; `turns` runs the rules of a loop, `pile` holds what rounds have added
run          one transaction
publish      views as ordinary Delta tables
delta_types  types that Delta tables do not have, in those that stand for them
session      the private session in which everything runs
"""
