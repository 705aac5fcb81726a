"""The rules of the optimiser, one a file; each is a function from a plan to an equal plan, given what is known.

Every rule goes over the whole plan by itself. The law that makes it right stands at the top of its file. The order in
which they run is in `optimise`.
"""
