"""Agents that have seen layers before: policies trained over random layers, chips and objectives.

An unseen layer on an unseen chip is mapped by proposals alone, in milliseconds
(``zero-shot``); other searches start from them.
"""
