"""From plans to maintenance programs: the three ways to maintain, by addition, by key and by fixpoint.

program     the program language: the contract between the compiler and the engines, and its text form
naive       before, after, subtract: the evidently right derivation, and the oracle of the fast one
blocks      plans as a graph of relations: sums of blocks (joins of relations), keyed functions, fixpoints
aggregates  an aggregate as accumulators that add up and a term that reads them
derive      the rules of every relation: the delta of a block for each of its inputs
states      which states are kept, by which keys, and the cost rule that chooses higher-order maps
merge       programs of many views as one, equal parts shared
"""
