"""The Spark engine: programs run over Spark, batch by batch, with durable state.

difference       the difference of what is stored and what was computed anew
engine           the engine
intake           intake
job_progress     how far Spark has come with what it is doing
jobs             jobs
kernel           kernel
negation         the negative of stored entries, as a segment
own_sql          own_sql
private_session  the private session in which everything runs
sources          tables that others write
storage          storage
translate        translate
"""
