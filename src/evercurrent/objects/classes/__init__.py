"""Classes of a schema as Python classes: declaring, building, keys.

building      classes of the schema made Python classes, and made anew when it changes who reads them
class_source  the source of a class
declaring     classes come into a database, and leave it
entities      classes written in Python, with the same meaning as ODL
keys          declared keys
kinds         one class of the schema as a Python class
structs       the struct in an attribute
"""
