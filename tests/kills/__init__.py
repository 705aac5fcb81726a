"""Writers that are killed: what was acknowledged is there afterwards, what was not is there whole or not at all."""
