"""Functions of arrays and maps, and functions that take functions.

arrays   functions of arrays
lambdas  functions that take functions
maps     functions of maps
"""
