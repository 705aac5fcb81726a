"""Terms, types and values on the way to Spark and back.

arrow_columns     whole columns of values, between Arrow and Python
calls             function calls as Spark columns
delta_types       the types that stand in Delta tables for those that Delta lacks
expressions       terms as Spark columns
intervals         intervals as numbers of microseconds or of months, and back
literals          constants as Spark columns
opaque_functions  functions that the compiler does not look into, on Spark
types             types and values, between Spark, Arrow and Python
zeros             -0.0 as 0.0: floats have one zero
"""
