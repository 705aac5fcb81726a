"""Changes of views on their way out, to programs that listen.

envelopes  the changes of a version as messages
kafka      messages to a topic of Kafka, each version once
positions  the version that a topic has, kept in Kafka itself
"""
