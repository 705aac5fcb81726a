"""Tables of PostgreSQL as sources of a database in process: loaded once, then followed by logical replication.

column_types  types of PostgreSQL, and their values from text
following     takes in what has changed, as one transaction
pgoutput      the messages of logical replication, decoded
server        one server: its catalog, publications, slots and snapshots
sources       sources are declared, loaded and compared
"""
