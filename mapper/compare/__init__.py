"""Comparison of searchers under equal budgets: plan, statistics, tables, plots."""
