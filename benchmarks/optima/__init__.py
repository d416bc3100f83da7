"""The data set of mapping problems with proven optima: ``python -m benchmarks optima``."""
