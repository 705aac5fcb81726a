"""Classes of a schema as Python classes: built, and compiled for those who read their objects.

building      classes of the schema made Python classes, and made anew when it changes who reads them
class_source  the source of a class
entities      classes written in Python, with the same meaning as ODL
fast_changes  the quick ways into collections
readers       who reads the tables of classes
structs       the struct in an attribute
"""
