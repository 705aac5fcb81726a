"""A database in process that outlives it: kept in one file, an SQLite database.

cells          values as the file holds them, and back
database_file  the file of a database: opened, closed, copied
file           the SQLite file: recognised, read, written, locked
history        what versions have changed
keeper         writes transactions and definitions of a session into its file
log            the net changes of the last versions
objects        makes the objects of a file
opening        reads definitions and tables, and fills the views
reloading      takes a database that only reads its file to the newest version
stored_table   one table of the file, in SQL
writer_lock    one process writes at a time
"""
