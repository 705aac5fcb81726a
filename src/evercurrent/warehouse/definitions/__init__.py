"""CREATE and DROP on a warehouse: definitions are kept as text in every version.

classes             classes and their operations
drafts              definitions take effect: compiled, filled, committed
named_objects       names that objects are bound to
opening             from the definitions of a version to its catalog and program
oql                 OQL: its definitions and its queries
publishing          where a view is published
python_definitions  definitions of views of query objects, as a version keeps them
sources             tables that others write
statements          CREATE and DROP in SQL
table_text          a table as CREATE TABLE
"""
