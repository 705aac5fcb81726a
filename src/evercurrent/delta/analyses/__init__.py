"""What can be read off a program: which parts fill what is new, which parts wait, how it is shown.

copies       rules that add a delta to a state as it is
deferral     hybrid views
drop_counts  A program without the counts that only tell no value from zero, where everyone who asks takes them as the same
fill         which part of a program computes what is new
finer_sums   states of sums that a finer state says as well
labels       names of a program that a reader can follow
levels       which relations and states of a program can be computed together
loops        what of a program lies inside a fixpoint, and what reaches it from outside
rule_order   the order in which the rules of one delta run
show         programs as text
"""
