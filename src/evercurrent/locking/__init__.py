"""One thread at a time, and no interrupt can leave a lock taken or an undo half done.

calls           the lock for the length of one call of a generated function
insist          runs an idempotent action to its end, though it is interrupted
lock            the lock of a database
with_statement  whether a `with` statement is still being executed, read off the stack
"""
