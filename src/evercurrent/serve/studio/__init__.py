"""The studio: what the page that shows a database reads. The page itself is built from `studio/` into `files/`.

derivation   why a row is there, one step at a time
graph        sources, tables, states and views, and what leads to what
inspection   what the studio reads of a database, whichever it is
in_process   the same of a database in process
on_spark     the same of a warehouse
pages        rows of a table or view, a page at a time, filtered and sorted
routes       the page and what it asks for
stored_pages  pages of a store on disk, read from the row groups that hold them
watch        what changes, as it happens
"""
