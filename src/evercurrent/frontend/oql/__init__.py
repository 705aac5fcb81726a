"""OQL, the object query language: text to calculus.

oql.lark     the grammar
aggregates   aggregates, quantifiers, membership
calls        functions, and definitions with parameters
casts        objects as objects of a subclass
collections  set operations, element, flatten
constants    literals and ranges
context      what holds for a translation, and what names mean at a place
define       the entry points: the views of a definition, a query that is answered once
forms        conversions between values, structs and collections
grouping     group by and partition
kinds        static types, and how values of them are represented in terms
layout       how a value of any type is stored in flat relations
lists        elements of lists and dictionaries by position, and slices
methods      operations of classes
names        named objects in queries
operators    arithmetic, comparison, logic
parse        text to syntax (`oql.lark`, `syntax`)
select       select blocks
shred        an expression as the flat relations of its layout
steps        names and paths
strings      characters, substrings, like
syntax       the syntax of OQL
translate    expressions, and conditions of which only TRUE counts
values       what an expression is translated to: one value, a struct by its members, a collection as a comprehension
views        views that were defined in OQL, as collections or values that other queries use
"""
