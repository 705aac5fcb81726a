"""Terms as Python source, for engines that generate what they run.

code          pieces of source, and what in them can be NULL
expressions   a term as an expression
scope         what is worth a local while several terms are written
writer        lines, and the names that stand for objects
load          source to functions
"""
