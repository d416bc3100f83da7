"""Certificates: a proof as a file, and a checker that shares cost model and bounds alone."""
