"""The algebra: flat operators over rows of named columns; no query is left inside a term.

nodes     the language, closed union `Plan`
build     smart constructors
walk      parts, rewriting, renaming apart
lower     calculus -> algebra, unnesting every nested query
rules/    the optimiser: one rule a file
optimise  the literal list of rule batches
lowering/ how lower does it
keys      what is known: unique keys, functional dependencies, nullability
facts     keys and dependencies, and reasoning with them
nulls     what conditions say of NULLs
joins     inner joins, seen flat
canonical text that ignores names, to find equal subplans
check     what every pass must leave true
evaluate  plans by interpretation, for tests of the rules
show      plans as text
"""
