"""Queries written as Python: functions are captured, not run.

annotations            classes as columns (how rows look in Python is in `data.shapes`)
symbols                a value that stands for a term
operations, logic, items, methods    Python's operators, truth, membership and methods as terms
locate, interpret      the source of a function, read over symbols
capture                a function over rows: from its source, by tracing, or opaque
block, results         a comprehension under construction; what a function returns as columns
query, joined, ...     the fluent interface
"""
