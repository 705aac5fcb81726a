"""Functions of values of any type: casts, comparison, logic.

casts       conversions between types, as CAST does them in ANSI mode
comparison  = <> < <= > >= and the null-safe <=>; IN with constants; the tests for NULL
logic       AND, OR, NOT in three-valued logic, and COALESCE
"""
