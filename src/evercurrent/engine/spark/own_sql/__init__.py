"""Spark's own SQL over stored tables: recomputing a view, and checking one.

queries    queries answered by Spark's own SQL over stored tables
recompute  A query computed by Spark's own SQL over stored tables, and what it changes of the rows that were kept
"""
