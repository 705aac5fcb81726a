"""Functions of numbers.

arithmetic         + - * / DIV % and the unary minus, on numbers, dates, times of day, timestamps and intervals
arithmetic_source  arithmetic as Python source, with the checks that the types ask for and no others
arithmetic_types   the types of operands and results of arithmetic
bits               functions of integers as bits, and of numbers written in other bases
numeric            functions of numbers
ring               arithmetic of accumulators
rounding           ROUND, BROUND, CEIL and FLOOR, to a number of decimal places that may be negative
"""
