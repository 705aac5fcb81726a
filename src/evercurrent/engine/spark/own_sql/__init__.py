"""Spark's own SQL over stored tables: recomputing a view, and checking one.

analysis   what Spark says of a query before it runs
queries    queries that Spark's own SQL answers over stored tables
recompute  the change that Spark's own SQL finds between a query's result and its stored rows
"""
