"""Types, values, monoids and Z-sets: what the other languages speak about.

types    the types of values, closed union `Type`
values   how values of each type are represented, taken in and given out; parts: representation, intake, bounds, texts
order    the order of values, as Spark sorts them
exact    sums of floats without loss
monoids  the ladder semigroup, monoid, group
zset     rows with integer multiplicities
"""
