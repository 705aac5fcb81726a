"""Functions of numbers.

arithmetic         + - * / DIV % and the unary minus, on numbers, dates, times of day, timestamps and intervals
arithmetic_source  arithmetic as Python source, with the checks that the types ask for and no others
arithmetic_types   the types of operands and results of arithmetic
bits               functions of integers as bits, and of numbers written in other bases
bounds             checks that let a sum of products be kept as a product of sums
numeric            functions of numbers
ordered_reads      sums over a range of an ordered group
ring               arithmetic of accumulators
rounding           ROUND, BROUND, CEIL and FLOOR, to a number of decimal places that may be negative
"""
