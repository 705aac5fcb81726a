"""The table of scalar functions, one file for each family of them.

calendar     moving dates and timestamps
coerce       to which type values of different types are brought
collections  collections
exact        arithmetic on scaled integers; calendar: on dates
failures     errors of evaluation, worded in one place
function     what an entry says
intervals    intervals as text
numbers      numbers
signatures   typing rules that many functions share
temporal     temporal
text         text
values       values
"""
