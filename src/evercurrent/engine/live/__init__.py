"""The live engine: a maintenance program becomes Python source, compiled, over dictionaries.

| role | file |
| --- | --- |
| LiveEngine: install, apply, undo, rows, trigger | engine |
| one loaded program: its dictionaries and functions | core |
| which part of a program computes the states that are new | fill |
| how a state is laid out in dictionaries, and why | layout |
| what has to run, given who looks on | plan |
| a program as functions: relations, stages, fast triggers | emit |
| rules as nested ifs and fors | rules |
| what rules read, and in which order their steps run | steps |
| rules that begin alike share their beginning | share |
| looking a state up | reads |
| adding to a state: entries, indexes, accumulators | writes, paths, amounts |
| the output of one entry of a keyed relation | keyed |
| a term as Python source | expressions, code |
| which columns and subterms are worth a local | scope |
| lines, indentation, names for objects; compiling | writer, load |
| what generated code calls | runtime |
"""
