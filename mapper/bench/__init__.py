"""A searcher over a fixed list of problems whose optimum is proven.

A :class:`BenchRun` is one search under an audit; `bench_plan` does all of a searcher, `bench_file`
keeps them as a file that `bench_check` makes anew, and `bench_table` puts files side by side.
"""
