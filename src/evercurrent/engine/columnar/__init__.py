"""Programs over columns: for large deltas and fills. Arrays of numpy in, arrays out; no row becomes a Python object.

arithmetic  checked arithmetic on arrays of 64 bits
arrow       columns of Arrow as users hand them over, checked, and as vectors
box         keys of a few integers as places in a table
cancelling  rows that a change both inserts and deletes
deltas      weighted rows as columns that are made when they are asked for
exact_sums  sums of floats over groups, exact
given       rows that were handed over as Arrow columns, and selections of them
index       finds entries of growing arrays by their keys, a batch at a time
intake      how Arrow columns of one table are read, worked out once
keyed       what the functions of touched groups return
program     one program over columnar states: transactions, undo, reading
row_rules   whether inserted rows satisfy the rules of single rows
rules       one rule over a delta
state       the entries of one state, as arrays
table       the rows of one table as columns
table_keys  the keys of a table, and the row of each or how many rows refer to it
terms       terms over vectors
vectors     columns of values, and pools of values that are no numbers
windows     windows and top-k over columns
"""
