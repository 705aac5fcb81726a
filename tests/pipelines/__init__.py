"""Declarative pipelines of Spark, run by evercurrent and by Spark's own runner."""
