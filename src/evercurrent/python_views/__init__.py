"""Views of Python query objects, whichever database keeps them.

face   the part of a database that speaks Python
owner  what a database needs to have query objects
"""
