"""Declarative pipelines of Spark: what a project defines, and what Spark itself does for it.

definitions     outputs and flows, as a project defines them
expressions     expressions of analysed plans as SQL text
flows           streaming flows and recomputed datasets, run by Spark as its own runner runs them
leaves          what plans read besides datasets of their pipeline
loading         Python and SQL files of a project to definitions
plans           analysed plans of DataFrames as SQL text
resolution      queries of flows, analysed before any table exists
session         the session in which a pipeline runs
sql_statements  statements of SQL files to definitions
tables          tables of the session's catalog that hold the rows of datasets
"""
