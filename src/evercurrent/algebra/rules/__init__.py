"""The rules of the optimiser, one a file; each is a function from a plan to an equal plan, given what is known.

aggregate_of_one    an aggregate over groups of one row is a term of that row
compare_extremes    to be other, less or greater than some row is to be so compared with the least or the greatest
derive_equalities   what equals a constant on one side equals it on the other
eliminate_distinct  rows that differ anyway need not be made different
eliminate_join      A join along a foreign key that adds nothing is the referring side
eliminate_outer     A left outer join that adds nothing is its left side
fold_empty          constants are worked out, and what can have no rows is cut off
intersect_selections  what two selections of one relation have in common is one selection
merge_map           maps fuse with what is above them
order_joins         joins in an order led by keys and foreign keys
outer_to_inner      outer joins whose padded rows are thrown away again are inner joins
prune_columns       what nobody reads is not computed
pull_map            maps go up through joins, so that what is joined stands side by side
push_selection      selections go down as far as they can
rank_to_top         the first rows of each partition are a top, not a numbering of all rows
reduce_aggregate    an aggregate that is joined with a filtered relation is computed only for what passes the filter
refine_nulls        what is known never to be NULL needs no check for NULL
restrict_or         alternatives over two sides imply alternatives over each
semi_to_join        A semi join with a side that matches at most once is a join
share_aggregate     A relation that is joined with an aggregate of itself, and then aggregated alike, is aggregated once
simplify_terms      terms in their simplest form, wherever they stand
split_or            what all alternatives have in common is asked once
split_record        records that are grouped by are grouped by their members
strict_equality     where one side cannot be NULL, null-safe equality is equality, which an index can answer
"""
