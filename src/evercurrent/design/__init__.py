"""From the queries of all views to one maintenance program, and what can be said about it. Both databases use it.

assumptions    checks a transaction against what the program assumes of parents and children
compile        from the queries of all views and assertions to one maintenance program
evaluation     A query, once, from scratch
events         `explain(stage="events")`
explain        how a view is kept, as text, at every stage of its way down
lazy_views     lazy views
opaque_notes   what `explain` says of opaque functions
program_parts  which part of the one program keeps a view
why            why a view has a row: the base rows that it comes from
"""
