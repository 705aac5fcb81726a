"""Scalar expressions: what stands in a condition, a column or an aggregate's argument.

nodes       the language, closed union `Term`
build       smart constructors: they type, coerce, fold and simplify
coerce      to which types values are brought: common types, implicit casts, decimal rules
simplify    laws that make terms smaller
functions   the table of functions: typing rule, meaning, and how it is written in Python
evaluate    the meaning of a term, by closures
walk        children, rewriting, free columns and variables, substitution
nullable    whether a term can be NULL
failing     whether evaluating a term can fail
show        terms as text
aggregates  the table of aggregate functions; aggregate_types, readings, moments, percentiles are its parts
"""
