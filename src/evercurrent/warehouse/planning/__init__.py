"""Per batch and view: which way costs least, and why.

estimates        what a batch will read and write, before it runs
experience       estimates corrected by experience
sql_equivalence  which queries Spark's own SQL computes exactly as they are meant here
strategies       how each view is brought up to date by a batch
"""
