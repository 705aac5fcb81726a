"""An incremental parser: the chart of a sentence as one recursive view over tokens, terminals and rules.

    python -m examples.parser

grammar   grammars and sentences as rows
chart     the chart as a recursive query
parser    a sentence and a grammar that one edits
trees     all parses, from the chart
scratch   two parsers that start from nothing: an oracle, and one to be measured against
"""
