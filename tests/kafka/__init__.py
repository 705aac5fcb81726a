"""Kafka: messages into tables, changes of views into topics, against a broker that is killed now and then."""
