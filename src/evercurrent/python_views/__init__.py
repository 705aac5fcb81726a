"""Views of Python query objects, whichever database keeps them.

owner  what a database needs to have query objects
"""
