"""The command line: pipelines of SQL over a warehouse.

commands   what each command does and shows
functions  functions that the command line hands over to a warehouse, by the words of the person who typed them
main       `evercurrent`
pipeline   A pipeline is one SQL file
settings   what a pipeline says beside its definitions
"""
