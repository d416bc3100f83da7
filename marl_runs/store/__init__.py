"""The store of runs: manifest, samples and metrics in one SQLite file or any database."""
