"""The algebra: flat operators over rows of named columns; no query is left inside a term.

borders         maps that apply opaque functions are borders
build           smart constructors
canonical       A plan's text that does not depend on how its columns are called
check           what every pass must leave true
column_lineage  from which columns of relations the values of columns are computed
evaluate        plans by interpretation, for tests of the rules
facts           keys and dependencies, and reasoning with them
joins           inner joins, seen flat
keys            what is known: unique keys, functional dependencies, nullability
lineage         where a row comes from
lower           calculus -> algebra, unnesting every nested query
lowering        lowering
needs           which values of its columns a plan is asked for, handed down to its inputs
nodes           the language, closed union `Plan`
nulls           what conditions say of NULLs
optimise        the literal list of rule batches
origins         origins as a graph
rules           the rules of the optimiser, one a file; each is a function from a plan to an equal plan, given what is known
show            plans as text
walk            parts, rewriting, renaming apart
"""
