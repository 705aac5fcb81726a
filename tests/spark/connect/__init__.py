"""Spark Connect: a server from the pip-installed PySpark on loopback, and a client in a process of its own.

client        what the client does, step by step
server        the server
test_connect  the client's report
"""
