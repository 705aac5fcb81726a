"""A database on Spark: the same statements and handles as inside the process, over durable, versioned data.

Rooms and modules from low to high: each imports only what stands above it in this list.

program_parts    which part of a program is updated by a delta, and which is recomputed
deferred         lazy and hybrid views: what waits in queues, and what it adds up to
planning         per batch and view: which way costs least, and why
version          one version as a value: definitions, program, stores
touched_rows     the stored rows that a change touches
transaction      an open transaction: pending changes
core             what changes of an open warehouse: the present version, lock, subscribers, draft
run_log          runs in the log of the program
run_table        run records as a table
maintenance      from valid changes to the next version: update, recompute, commit, publish, notify, compact
queries          a query, once, from scratch
definitions      CREATE and DROP, kept as texts in every version
integrity        checksums, repair, and views compared with Spark's own SQL
changes          feeds, transactions, sources and streams: taken in, validated, quarantined
pending_queries  rows as a reader sees them, with the changes of an open transaction
history          what versions have changed, and what they held
sinks            changes of views as messages of Kafka
explain          how a view is kept, and what a batch would cost
statements       what the executor of statements asks of a database
why              the base rows of a view's row
objects          objects whose rows lie in stores
handles          the tables and views that users hold
python_views     query objects of Python
streaming        streams into tables, and views sent or published as they change
database         the public face
"""
