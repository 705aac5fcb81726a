"""Types, values and Z-sets: what the other languages speak about.

arrow_types     types and values as Arrow has them
bounds          what numbers a type can hold
collections     collections as the user sees them
exact           sums of floats without loss
feeds           what columns of a change feed say beside the row
intake          values of users, taken in
naming          names of fields that are made up
order           the order of values, as Spark sorts them
representation  the classes of values that Python does not have
shapes          how the rows of a query look in Python
showing         a value in a message, whatever the value is
texts           dates, times of day, timestamps and zones as text, read and written as Spark casts them
types           the types of values, closed union `Type`
values          how values of each type are represented, and converted from and to those of users; parts: representation, intake, bounds, texts
zset            rows with integer multiplicities
"""
