"""The laws of the calculus, each a function that rewrites where it applies and returns None where it does not.

    generators     generators over comprehensions, constants and nothing
    filters        conjunctions, constants, conditions that reject NULL
    nesting        EXISTS, IN, scalar subqueries
    operations     unions, set operations, orders, groups
    pruning        fields that nobody reads

`normalize` lists them in order.
"""
