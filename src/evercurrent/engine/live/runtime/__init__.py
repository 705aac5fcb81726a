"""What generated code calls.

additions   sums and counts that only DISTINCT or an unusual type keeps from being plain sums; and the bits of integers
aggregates  one value of a group that is not a sum: min, median, collect_list, ...
best        the first row of a group in some order
chunks      rows in order, in chunks that know their sums
deltas      deltas in order, added up, subtracted
fixpoint    relations that are defined through each other
folds       user-defined aggregates
index       buckets of secondary indexes: a pair inline, a dictionary from two on
journal     the record of old values that undoes a transaction
magnitudes  the greatest magnitudes of bounded factors
moments     variance and its kin from exact power sums
ordered     groups of rows in order, for top-k
ordered_entries  entries of a state in the order of a value, read by ranges
ordered_sums  sums over a range of an ordered key
sequences   all rows of a group in order
sorting     sorted sequences
window_frames  window functions over frames: what a change reaches, and values
window_groups  partitions of window functions
window_ranks   window functions of positions and neighbours
"""
