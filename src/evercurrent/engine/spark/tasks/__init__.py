"""A program over partitions: the kernel's rules and functions of groups, run by tasks over slices of the changed rows.

access          what a task is sent so that it opens and writes the files of a warehouse
column_rules    rules over columns, with lookups into stored states
fill_waves      states that tasks fill from tables, each scanned once
keyed_slices    functions of groups, for a slice of the touched entries or groups
merging         pieces that many tasks have written, added up to one segment: a task for each range of keys
pieces          sorted files that one task writes, and slices of files that one task reads
rule_slices     rules over a slice of a delta
runner          functions over items, in this process or by tasks of Spark
sorted_frames   frames as sorted segments, by pieces
transaction     one transaction: waves of rules, merges, functions of groups
vectors         columns of files as vectors, and back
"""
