"""ODL, the object definition language: text to classes and back.

tokens     words, numbers and signs, each with its place
syntax     what a text says, before names are looked up
parse      text to syntax
resolve    syntax to classes: types, constants, defaults
show       classes to text that parses back to the same classes
"""
