"""The table of scalar functions, one file for each family of them.

function  what an entry says
table     all entries by name
"""
