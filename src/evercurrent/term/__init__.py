"""Scalar expressions: what stands in a condition, a column or an aggregate's argument.

aggregate_types  types of aggregates
aggregates       the table of aggregate functions; aggregate_types, readings, moments, percentiles are its parts
build            smart constructors: they type, coerce, fold and simplify
emit             terms as Python source, for engines that generate what they run
evaluate         the meaning of a term, by closures
failing          whether evaluating a term can fail
function_table   all functions by name
functions        the table of functions: typing rule, meaning, and how it is written in Python
handed_over      the functions that a program has handed over to a database, by their paths `module:qualname`
located          functions and classes by where they are defined
moments          variance and its kin, exactly
monoid           the aggregate `monoid`
nodes            the language, closed union `Term`
nullable         whether a term can be NULL
opaque           opaque functions
percentiles      percentiles of a sorted bag
readings         the meaning of aggregates
show             terms as text
simplify         laws that make terms smaller
walk             children, rewriting, free columns and variables, substitution
"""
