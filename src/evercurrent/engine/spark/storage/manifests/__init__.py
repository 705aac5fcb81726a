"""What keeps the log of a warehouse small, however many versions and stores it has.

archive      entries of old versions, a thousand in one file
checkpoints  snapshots as differences from a whole one
"""
