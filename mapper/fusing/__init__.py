"""Fused layers: groups of layers that take turns on the whole chip, one fused tile after another.

`axis_plan` cuts the rows or the columns of a group into fused tiles, with halos kept or computed
anew; `groups_of` finds the groups of a network; `GroupCosts` says what each tiling of a group costs
at least and at most; `FusedProblem` chooses groups and tilings beside what stays.
"""
