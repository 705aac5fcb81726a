"""Functions of text and binary values.

codes     text and binary as each other
formats   FORMAT_STRING and FORMAT_NUMBER
json_texts  JSON as text
json_values  JSON as values: from_json, schema_of_json
matching  patterns
regex     regular expressions of Java, translated to those of Python; what has no translation is refused
schema_texts  schemas as texts
spelling  values as text, the way a cast to STRING spells them
strings   functions of text
"""
