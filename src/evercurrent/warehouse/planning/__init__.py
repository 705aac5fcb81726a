"""Per batch and view: which way costs least, and why.

estimates        what a batch will read and write, before it runs
experience       estimates corrected by experience
explain          how a view is kept on Spark, as text, at every stage of its way down; and what a batch would cost, before it runs
sql_equivalence  what Spark's own SQL says exactly as it is meant here, so that Spark may compute a view that is recomputed
strategies       per batch and per view
"""
