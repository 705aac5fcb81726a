"""OQL to calculus.

define       the doors: views of a definition, a query that is asked once
parse        text to syntax (`grammar`, `syntax`)
kinds        static types, and how values of them are represented in terms
values       what an expression is translated to: one value, a struct spelled out, a collection as a comprehension
forms        from one of these to another
context      what holds for a translation, and what names mean at a place
translate    expressions, and conditions of which only TRUE counts
steps        names and paths                     names      named objects
operators    arithmetic, comparison, logic       strings    characters, substrings, like
constants    literals and ranges                 casts      objects of special classes
aggregates   aggregates, quantifiers, membership
collections  set operations, element, flatten    lists      places and slices
select       select blocks                       grouping   group by and partition
calls        functions and definitions           methods    operations of classes
layout       how a value of any type is kept in flat relations
shred        an expression as these relations    views      views as expressions
"""
