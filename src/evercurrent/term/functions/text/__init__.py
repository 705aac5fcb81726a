"""Functions of text and binary values.

codes     text and binary as each other
formats   FORMAT_STRING and FORMAT_NUMBER
matching  patterns
regex     regular expressions of Java, translated to those of Python; what has no translation is refused
spelling  values as text, the way a cast to STRING spells them
strings   functions of text
"""
