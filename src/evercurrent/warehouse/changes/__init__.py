"""Changes on their way into a version: taken in, validated, set aside or committed.

apply             change feeds
assertion_trials  which changes of a batch make an assertion false
bulk              changes too large for the driver
columns           change feeds that are Arrow tables of whole rows
constraint_split  which changes of a batch satisfy all constraints, and which are set aside
constraints       the constraints of a change, wherever it is
large_statements  statements that change many rows, by jobs and tasks
quarantine        changes that break a constraint or an assertion, set aside in a table, while the rest of the batch is applied
references        sources whose rows are not stored here: their keys, and what is done where their past is lost
refresh           take in what has changed in all sources, as one version
streams           streams into tables
transactions      `with db.transaction()`: begin, join and commit
upserts           messages with operations: the last message of a key decides which row the key has
"""
