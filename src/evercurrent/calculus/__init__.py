"""Monoid comprehensions.

bindings       variables bound to records: indexes and memos of the evaluator
codec          queries as JSON, and back
comparing      comparisons of rows in three-valued logic
evaluate       the reference semantics: what a query returns, from scratch
event_reading  what a query reads of a schema, as the events that change it; `events` says what they are good for
events         the events that can change a view, and the plan for each
frames         window frames
grouping       GROUP BY, ROLLUP, CUBE, GROUPING SETS
inline         views that are not kept
laws           the laws of the normal form, one function each
monotone       where a recursive relation may be read
nodes          queries, qualifiers, and queries inside terms
normalize      the list of laws and its driver
paths          paths through references, as outer generators over extents
recursion      fixpoints
schedule       how the evaluator reads a comprehension: filters early, equalities as lookups
scope          free variables, substitution, renaming apart
show           queries as text
walk           parts, rewriting, relations that are read
well_formed    is a node that was read from a text one that the program itself could have made?
windows        window functions over a sorted partition; the engines use these functions too
"""
