"""From plans to maintenance programs: the three ways to maintain, by addition, by key and by fixpoint.

program      the program language: the contract between the compiler and the engines
show         programs as text
interpret    the meaning of programs, word for word; an oracle
naive        before, after, subtract: the evidently right derivation; another
blocks       joins of relations in normal form: what addition can maintain
combine      blocks made of blocks
keyed        groups, their states, and the functions that are read of them
aggregates   an aggregate as accumulators that add up and a term that reads them
definitions  what plans are cut into, and their structural names
graph        plans -> definitions
factor       amounts as polynomials
analysis     what the rules of a feed need to know about its block
states       the states that rules look up
lookups      in which order, and by which columns, the other sources of a block are looked up
derive       the rules of a feed: its delta for each of its sources
compile      plans of views -> one program
loops        what lies inside a fixpoint, and what reaches it from outside
fill         which part of a program computes what is new
"""
