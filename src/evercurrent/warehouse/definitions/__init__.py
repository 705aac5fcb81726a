"""CREATE, ALTER and DROP on a warehouse: definitions are kept as text in every version.

altering            ALTER TABLE: rows with other columns
classes             classes and their operations
drafts              definitions take effect: compiled, filled, committed
named_objects       names that objects are bound to
opening             from the definitions of a version to its catalog and program
oql                 OQL: its definitions and its queries
publishing          where a view is published
sources             tables that others write
spark_views         views that only Spark understands
statements          CREATE and DROP in SQL
"""
