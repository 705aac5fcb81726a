"""One batch on the driver: generated code over the delta, lookups by key, functions of touched groups.

batch                A small transaction, by the driver alone
constraint_precheck  whether changes satisfy all rules, found out by columns
entries              the entries of one state in the driver's hands
entry_columns        what is read of entries, by position
equal_rows           sums of the weights of equal rows, by sorting
extremes             the smallest or largest values of bags, read from the edges of their groups
first_rows           the head of a state
fixpoint             recursion on the driver
garbage_collection   fewer runs of Python's cycle collector while many rows are made
generated_code       generated functions, compiled once for what they are made of
keyed_functions      keyed functions as generated code
outcome              what a transaction returns: segments, deltas and costs
rule_loops           rules as generated loops over lists of rows
steps                what a rule and a keyed relation do over rows and entries, on the driver and in tasks
"""
