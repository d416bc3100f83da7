"""Comparison of searchers under equal budgets: plan, statistics, tables, plots."""

from mapper.compare.entry import Board, ComparedCase, ComparedRun, boards, collect, collect_all
from mapper.compare.formats import FORMATS
from mapper.compare.plan import CompareError, Method, Plan, make_plan
from mapper.compare.result_tables import TextTable, make_tables
from mapper.compare.summary import Cell, Summary

__all__ = [
    "FORMATS",
    "Board",
    "Cell",
    "CompareError",
    "ComparedCase",
    "ComparedRun",
    "Method",
    "Plan",
    "Summary",
    "TextTable",
    "boards",
    "collect",
    "collect_all",
    "make_plan",
    "make_tables",
]
