"""Collections that belong to objects, and relationships kept from both ends.

owned          collections that belong to an object
positioned     collections whose elements have a place
raw            the changes of one collection, and the entries that undo them
referrers      who refers to an object by an attribute
relationships  relationships, consistent from both ends
"""
