"""The live engine: a maintenance program becomes Python source, compiled, over dictionaries.

amounts           what one row adds to the accumulators of a cell, as source
borrowed_lookups  looking up a borrowed state (see `borrowed_states`) in a fast trigger, as source
borrowed_states   states that are not kept, because whoever owns the rows can be asked
changes           the change of one entry of a keyed relation in a fast trigger
core              one loaded program
emit              A program as Python source
engine            the live engine
keyed             the output of one entry of a state, as source
layout            how a state is laid out in dictionaries
paths             what a rule adds to, and how its indexes and sorted groups follow, as source
plan              what of a program has to run, given who looks on
reads             looking a state up, as source
rules             A rule as nested ifs and fors, steps in the order given
runtime           what generated code calls
scope             the names in scope while a rule of the live engine is written
share             rules that begin alike share their beginning
steps             what can be said of rules before they are written
triggers          the fast triggers as Python source
variant           the compiled functions for one set of watched relations
writes            adding to a state, as source
"""
