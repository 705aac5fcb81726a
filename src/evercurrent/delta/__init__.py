"""From plans to maintenance programs: the three ways to maintain, by addition, by key and by fixpoint.

aggregates   an aggregate as accumulators that add up and a term that reads them
analyses     analyses of programs: deferral, dropped counts, levels, loops, fills
analysis     what the rules of a feed need to know about its block
attributes   attributes of which changes may wait, for hybrid views
blocks       joins of relations in normal form: what addition can maintain
bounds       amounts of integers and floats as polynomials, and what makes that right
combine      blocks made of blocks
compile      plans of views -> one program
definitions  what plans are cut into, and their structural names
derive       the rules of a feed: its delta for each of its sources
factor       amounts as polynomials
graph        plans -> definitions
identities   join a delta with materialized identities
interpret    the meaning of programs, word for word; an oracle
keyed        groups, their states, and the functions that are read of them
lookups      in which order, and by which columns, the other sources of a block are looked up
memory       what was compiled before, for the next compilation
naive        before, after, subtract: the evidently right derivation; an oracle
program      the program language: the contract between the compiler and the engines
ranges       sources that are joined by inequalities, as sums over a range or as its rows
rederive     delete and rederive
states       the states that rules look up
terms        the terms that rules read and bind
upkeep       whether a map pays: what it saves against what it costs
"""
