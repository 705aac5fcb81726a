"""What stands between the public face and the engines: stored rows, transactions, constraints, subscribers.

stored rows      patch (the change of one dictionary, worked out before it is made), store (the rows of one table and what
                 its constraints look up), pending (what a transaction has changed so far), rules (what a row must
                 satisfy by itself), constraints (whether the net change may stand)
rows of users    rows (in and out), locate (by key or whole), intake (Arrow, pandas, change feeds), export, apply, feed
compiling        compile (queries to one program), query (once, from scratch), lineage (which part keeps a view)
keeping          maintenance (engine, program, what is recomputed in full), assumptions, session (one database; commit),
                 transactions, subscriptions
interrupts       lock (one thread at a time, whatever is interrupted), with_statement (whether one is still being executed),
                 insist (repeats what undoes)
statements       execute, definition (CREATE), dropping (DROP), installation (where a new catalog takes effect)
handles          reading (what all have in common), tables, views, results
what it says     verify, stats, blame (which view failed, and for which row)
"""
