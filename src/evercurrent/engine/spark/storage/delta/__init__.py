"""Commits to tables of Delta: our own, with a change feed, and those that others write too.

commits  an entry of a table's log, with the files of its change feed
merges   rows of a view in a table that exists already, by a key
"""
