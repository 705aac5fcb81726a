"""Programs as DataFrame jobs: for fills, and for changes too large for the driver.

accumulated_segments  what the rounds of a recursion have added to a Z-set so far
aggregates            aggregates that are read from a bag of argument values
fill                  the first transaction of a program, over all rows of its inputs
fixpoint_jobs         recursion by jobs: the derivations of a fixpoint as frames
keyed                 functions of groups, for the groups that a transaction touches
loop_rules            the rules of a recursion, run over frames
rules                 one rule as operations on a DataFrame
transaction           one transaction: from deltas of inputs to segments of states and deltas of views
windows               window functions and ranks over the rows of touched groups
"""
