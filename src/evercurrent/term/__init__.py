"""Scalar expressions: what stands in a condition, a column or an aggregate's argument.

nodes      the language, closed union `Term`
build      smart constructors: they type, coerce, fold and simplify
functions  the table of functions: typing rule, meaning, and how it is written in Python
evaluate   the meaning of a term, by interpretation
walk       children, rewriting, free columns and variables, substitution
nullable   whether a term can be NULL
show       terms as text
"""
