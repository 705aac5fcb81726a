"""From the queries of all views to one maintenance program, and what can be said about it. Both databases use it.

access_paths   which rows of its tables a query needs, found by keys and indexes
assumptions    compares a transaction with what the program assumes of parents and children
compile        from the queries of all views and assertions to one maintenance program
evaluation     evaluates a query once, from scratch
events         what can change a view, and the plan for each event
explain        how a view is kept, as text, at every stage of its way down
lazy_views     lazy views: changes wait until the view is read
opaque_notes   what `explain` says of opaque functions
row_keys       which columns tell the rows of a relation apart
program_parts  which part of the one program keeps a view
statistics     what is known of tables: sizes, fan-outs, and how often each changes
why            why a view has a row: the base rows that it comes from
window_notes   windows of which one change changes many results, and what to write instead
"""
