"""Monoid comprehensions.

nodes       queries, qualifiers, and queries inside terms
walk        parts, rewriting, relations that are read
scope       free variables, substitution, renaming apart
laws        the laws of the normal form, one function each
normalize   the list of laws and its driver
evaluate    the reference semantics: what a query returns, from scratch
schedule    how the evaluator reads a comprehension: filters early, equalities as lookups
grouping    GROUP BY        windows, frames   window functions
recursion   fixpoints       comparing         rows in three-valued logic
show        queries as text
"""
