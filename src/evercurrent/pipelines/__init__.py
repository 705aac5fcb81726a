"""Declarative pipelines of Spark (`spark-pipeline.yml`), run incrementally over a warehouse.

spec         the file that describes a pipeline, found and read as `spark-pipelines` does
selection    which datasets a run updates
capture      which datasets the warehouse maintains, and why the others are recomputed
records      what a run did, dataset by dataset
preparation  everything before the first change of a run
publish      rows of the warehouse's views into the tables of the session's catalog
stages       the stages of a run, in the order of dependencies
lineage      OpenLineage events for runs
run_lock     one run of a pipeline at a time
run          a run, from the spec to the record
"""
