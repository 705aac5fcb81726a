"""Random campaigns against independent oracles: `make fuzz MINUTES=10`, and a fixed budget in `make test`.

campaign    what a campaign is: one scenario for each seed, a tally of what was compared, a difference that was found
campaigns   one file for each kind of scenario
"""
