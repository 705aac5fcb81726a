"""The live engine: a maintenance program becomes Python source, compiled, over dictionaries.

amounts           what one row adds to the accumulators of a cell, as source
borrowed_lookups  looking up a borrowed state (see `borrowed_states`) in a fast trigger, as source
borrowed_states   states that are not stored, because the owner of the rows can be asked
changes           the change of one entry of a keyed relation in a fast trigger
columns           the states of a program between dictionaries and columns
core              one loaded program
emit              a program as Python source
engine            the live engine
keyed             the output of one entry of a state, as source
keyed_stages      the stages of keyed relations as source
layout            how a state is laid out in dictionaries
memory            about how many bytes dictionaries take
paths             what a rule adds to, with its indexes and sorted groups, as source
plan              which parts of a program have to run, given the watched relations
reads             looking a state up, as source
row_pairs         the rules for the rows of a delta
rules             a rule as nested ifs and fors, in the order of its steps
runtime           what generated code calls
scope             the names in scope while a rule of the live engine is written
share             rules with equal first steps share them
steps             properties of rules that are known before they are written
storages          the dictionaries of states
triggers          the fast triggers as Python source
variant           the compiled functions for one set of watched relations
writes            adding to a state, as source
"""
