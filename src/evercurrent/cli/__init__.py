"""The command line: pipelines of SQL over a warehouse."""
