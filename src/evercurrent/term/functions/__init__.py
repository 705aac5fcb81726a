"""The table of scalar functions, one file for each family of them.

function      what an entry says
table         all entries by name
signatures    typing rules that many functions share
failures      errors of evaluation, worded in one place
casts         conversions between types; spelling, intervals: values as text
exact         arithmetic on scaled integers; calendar: on dates
regex         patterns of Java in Python; date_patterns: those of dates
arithmetic, comparison, logic, numeric, rounding, bits, strings, codes, formats, matching, date_parts, datetimes,
date_texts, times, arrays, maps, lambdas     the families
ring          the arithmetic of accumulators
"""
