"""What generated code calls.

journal       the record of old values that undoes a transaction
index         buckets of secondary indexes: a pair inline, a dictionary from two on
aggregates    one value of a group that is not a sum: min, median, collect_list, ...
ordered       groups of rows in order, for windows and top-k
fixpoint      relations that are defined through each other
"""
