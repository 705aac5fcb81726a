"""A program analyser: fifteen patterns of bugs as live views over Java class files.

    python -m examples.analyser PATH [--follow]

constants, opcodes, code, classfile   the class-file format: bytes to a `ClassFile`
facts, instructions                   a class as rows of six tables
bugs, reference                       the patterns, and each as a function over plain lists
program, patterns                     the tables, and each pattern as a live view
sources, follow                       folders and archives of class files, and how they change
analyser                              classes in, bugs out
"""
