"""The live engine: a maintenance program becomes Python source, compiled, over dictionaries.

layout        how a state is laid out in dictionaries, and why
expressions   a term as Python source
reads         looking a state up, as source
writes        adding to a state, as source
rules         a rule as nested ifs and fors
emit          a program as functions: one for each relation, the stages of derived relations, the fast triggers
load          compiling, so that debuggers and tracebacks see the source
fill          which part of a program computes the states that are new
engine        LiveEngine: install, apply, undo, rows, trigger
runtime       what generated code calls: indexes, aggregates, sorted groups, fixpoints, the journal
"""
