"""Functions of arrays and maps, and functions that take functions.

arrays     functions of arrays
lambdas    functions that take functions
maps       functions of maps
sequences  arrays of numbers, dates and timestamps from a start to a stop
"""
