"""Queries written as Python: functions are captured, not run.

annotations     classes as columns (how rows look in Python is in `data.shapes`)
block           A comprehension under construction
calling         what is called while a function is read
capture         a function over rows: from its source, by tracing, or opaque
comprehensions  comprehensions over tables, queries and collections inside captured functions
core            what all query objects have in common
definitions     tables of row classes, and views of query objects, as the catalog declares them
expressions     expressions that Python has no operator for, or that tracing cannot see
functions       views of functions
grouping        groups
interpret       A function's syntax, read over symbols
items           membership and items
joined          rows side by side, after joins
joins           joins of blocks, and set operations of queries
locate          the syntax of a function, found in the file that it stands in
logic           truth
methods         methods, attributes and built-in functions of values, over symbols
monoids         aggregates of your own
opaque          functions that stay functions
operations      python's operators over symbols, with Python's meaning
ordering        sort keys
query           typed query objects
recursion       recursion
results         what a function over rows returns, as columns
selecting       the spelling of SQL
surroundings    the names that a function sees
symbols         a value that stands for a term
terms           values of captured functions as terms
unnesting       unnesting
windows         window functions
"""
