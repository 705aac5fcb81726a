"""Terms, types and values on the way to Spark and back.

arrow_columns     whole columns of values on the way between Arrow and Python
calls             functions to columns
delta_types       types that Delta tables do not have, in the types that stand for them there
expressions       terms to columns of Spark
intervals         day-time intervals as numbers of microseconds, and back
literals          constants as columns
opaque_functions  opaque functions on Spark
types             types and values on the way to Spark and back
zeros             one zero
"""
