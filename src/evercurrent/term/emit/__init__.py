"""Terms as Python source, for engines that generate what they run.

code         pieces of source, and what in them can be NULL
expressions  a term as an expression
functions    functions of one row, as compiled source
load         source to functions
ring         reading accumulators
scope        what is worth a local while several terms are written
writer       lines, and the names that stand for objects
"""
