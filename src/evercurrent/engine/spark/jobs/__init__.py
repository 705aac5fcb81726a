"""Programs as DataFrame jobs: for fills, and for changes too large for the driver.

accumulated_segments  what the rounds of a recursion have added to a Z-set so far
aggregates     aggregates that are read of a bag of argument values
fill           the first transaction of a program over many rows
fixpoint_jobs  recursion by jobs
keyed          functions of groups, for the groups that a transaction touches
loop_rules     the rules of a loop, run over frames
rules          rules to DataFrames
transaction    one transaction
windows        window functions and ranks over the rows of touched groups
"""
