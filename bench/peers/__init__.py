"""Other engines beside ours, on the same streams: `python -m bench.peers`.

- `__main__`: the command: which peers, scale, repeats
- `run`: measures all peers, and makes the tables
- `events_file`: writes the stream once, for programs in other languages
- `contest`: what is measured when, what a measurement is, and whether a result is right
- `ours`: evercurrent itself: rows by `feed`, rows in transactions, Arrow tables
- `rust`: differential-dataflow and dbsp, built by cargo from `rust/`
- `python_peers`: Pathway, and pg_ivm in a server of its own, run by the Python of `.venv-peers`
- `node`: TanStack's db-ivm, installed by npm
- `programs`: the programs in Python and JavaScript; they import nothing of ours
"""
