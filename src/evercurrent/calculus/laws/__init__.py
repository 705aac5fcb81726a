"""The laws of the calculus, each a function that rewrites where it applies and returns None where it does not.

filters     laws of filters
generators  laws of generators
nesting     laws of queries inside terms
operations  laws of the operations beside comprehensions
pruning     laws of unread fields
"""
