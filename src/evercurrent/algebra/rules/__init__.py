"""The rules of the optimiser, one a file; each is a function from a plan to an equal plan, given what is known.

aggregate_of_one    an aggregate over groups of one row is a term of that row
compare_extremes    to be other, less or greater than some row is to be so compared with the least or the greatest
derive_equalities   a column that is joined with a column of one value has that value too
eliminate_distinct  drops DISTINCT where the rows have a key
eliminate_join      drops a join along a foreign key of which only the referring side is read
eliminate_outer     drops a left outer join of which only the left side is read
fold_empty          evaluates operators over constants, and removes what can have no rows
intersect_selections  what two selections of one relation have in common is one selection
merge_map           maps fuse with what is above them
order_joins         joins in an order led by keys and foreign keys
outer_to_inner      outer joins whose padded rows are thrown away again are inner joins
prune_columns       drops columns that nothing above reads
pull_map            maps go up through joins, so that joined relations stand side by side
push_selection      selections go down as far as they can
rank_to_top         the first rows of each partition are a top, not a numbering of all rows
reduce_aggregate    an aggregate that is joined with a filtered relation is computed only for what passes the filter
refine_nulls        columns that are known never to be NULL are not checked for NULL
restrict_or         alternatives over two sides of a join imply alternatives over each side
semi_to_join        a semi join with a side that matches at most once is a join
share_aggregate     a relation that is joined with an aggregate of itself, and then aggregated alike, is aggregated once
simplify_terms      terms in their simplest form, wherever they stand
split_or            takes the conditions that all alternatives share out of them
split_record        records that are grouped by are grouped by their members
strict_equality     where one side cannot be NULL, null-safe equality is equality, which an index can answer
"""
