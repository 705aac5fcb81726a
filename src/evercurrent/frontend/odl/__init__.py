"""ODL, the object definition language: text to classes and back.

odl.lark    the grammar
parse       text to syntax
primitives  the primitive types, as types and limits
resolve     syntax to classes: types, constants, defaults
show        classes to text that parses back to the same classes
syntax      what a text says, before names are looked up
"""
