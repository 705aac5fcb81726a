"""The command line: pipelines of SQL over a warehouse, and declarative pipelines of Spark.

commands     what each command does and shows
declarative  `run` for declarative pipelines of Spark
functions    functions that the command line hands over to a warehouse, by the words of the person who typed them
main         `evercurrent`
pipeline     A pipeline is one SQL file
serving      `serve` and `studio`
settings     what a pipeline says beside its definitions
shell        statements one by one, on a terminal or from a pipe
"""
