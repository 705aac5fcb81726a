"""The monoid comprehension calculus (paper 000): what every front end writes and nothing goes around.

nodes      the language, closed union `Query`, and the nested queries that may stand in a term
walk       children and rewriting, through terms and queries alike
normalize  the normal form, by a literal list of laws
evaluate   the reference semantics: slow, direct, the oracle of everything else
show       comprehensions as text
"""
