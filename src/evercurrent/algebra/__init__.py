"""The algebra: flat operators over rows of named columns; no query is left inside a term.

nodes     the language, closed union `Plan`
build     smart constructors
lower     calculus -> algebra, unnesting every nested query
rules/    the optimiser: one rule a file
optimise  the literal list of rule batches
keys      what is known: unique keys, functional dependencies, nullability
evaluate  plans by interpretation, for tests of the rules
show      plans as text
"""
