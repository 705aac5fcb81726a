"""The tests: unit (mirrors src), conformance (one suite x every engine), laws, tpch, golden."""
