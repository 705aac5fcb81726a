"""OQL to calculus.

aggregates   aggregates, quantifiers, membership
calls        functions and definitions           methods    operations of classes
casts        objects as objects of a more special class
collections  set operations, element, flatten    lists      places and slices
constants    literals and ranges                 casts      objects of special classes
context      what holds for a translation, and what names mean at a place
define       the doors: views of a definition, a query that is asked once
forms        from one of these to another
grammar      the grammar, for lark's LALR(1) parser with its contextual lexer
grouping     group by
kinds        static types, and how values of them are represented in terms
layout       how a value of any type is kept in flat relations
lists        elements of lists and dictionaries by their place, and slices
methods      operations of classes
names        named objects in queries
operators    arithmetic, comparison, logic       strings    characters, substrings, like
parse        text to syntax (`grammar`, `syntax`)
select       select blocks                       grouping   group by and partition
shred        an expression as these relations    views      views as expressions
steps        names and paths                     names      named objects
strings      strings
syntax       the syntax of OQL
translate    expressions, and conditions of which only TRUE counts
values       what an expression is translated to: one value, a struct spelled out, a collection as a comprehension
views        views that were defined in OQL, as collections or values that other queries use
"""
