"""An evaluator of OQL over plain Python objects: slow, direct, and written apart from the compiler.

    text --parse--> syntax --evaluate(model)--> value

`values` what a query may return; `model` classes and objects; `syntax`, `lexer`, `parser` the language; `types` what an
expression may be, where meaning depends on it; `scalars` arithmetic and comparison; `evaluate` all the rest.
"""
