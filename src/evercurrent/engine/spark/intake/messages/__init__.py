"""Messages of Kafka on their way into a table: rows, or the envelopes of change capture.

connect_values  values of JSON and of Kafka Connect, as the values of columns
decoding        messages to rows with operations, by the executors
envelopes       what one message says: the operation and the row, in JSON or in an envelope of Debezium
last_messages   the last message of each key, and what it changes, by the executors
options         the formats of `db.stream`, and what can be said of each
"""
