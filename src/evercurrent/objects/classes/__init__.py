"""Classes of a schema as Python classes: built, and compiled for those who read their objects.

building      builds a Python class for each class of the schema
class_source  the source of a class
entities      classes written in Python, with the same meaning as ODL
fast_changes  the fast ways to change a collection
readers       who reads the tables of classes
structs       the struct in an attribute
"""
