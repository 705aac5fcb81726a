"""Random campaigns against independent oracles: `make fuzz MINUTES=10`, and a fixed budget in `make test`.

campaign            what a campaign is: one scenario for each seed, a tally of what was compared, a difference that was found
campaigns           one file for each kind of scenario
roster              the campaigns by name, and their shares of the time
histories           a history over tables as data, followed by a database and DuckDB
random_histories    draws such histories
family_histories    a history over tables that refer to each other, with every way to change them
random_families     draws such tables, and views that follow the references
random_family_changes
                    draws transactions that aim at what is assumed of parents
bulk_histories      a history of loads of thousands of rows, followed by a database and DuckDB
random_constants    draws constants of SQL in random spellings, and views that show them
object_histories    a history over objects as data, followed by a database and the OQL oracle
shortening          makes the history of a difference short
runner              runs campaigns for a time
workers             the processes that run scenarios
report              what a run says
matrix_report       the matrix of functions and positions
found               differences as scripts; the folder `found` holds those that were mended
budget              the seeds that `make test` runs
mutants             deliberate bugs, which the budget must catch
mutate              runs the budget against them: `make mutants`
"""
