"""The work table of a box: per dimension, what its ranges of tiles allow at best."""

from __future__ import annotations

from typing import Final

# rows of the work table, a column per dimension
UNITS: Final = 0  # clusters along the dimension
MEMBERS: Final = 1  # PEs of a cluster along it
OUTER_LOW: Final = 2  # smallest and largest outer tile
OUTER_HIGH: Final = 3
INNER_LOW: Final = 4  # smallest and largest inner tile
INNER_HIGH: Final = 5
SPAN: Final = 6  # what all clusters cover in an outer step, with the smallest outer tile
OUTER_STEPS: Final = 7  # at least
CLUSTER_TILES: Final = 8  # outer tiles in all, at least
STEPS: Final = 9  # inner steps summed over outer ones, at least
MOST_STEPS: Final = 10  # the same, at most
BLOCKS: Final = 11  # the same with every cluster's counted, at least
PLACES: Final = 12  # inner tiles in all, at least
FIRST_PLACES: Final = 13  # active PEs at the first inner step, summed over outer ones, at least
LEAD: Final = 14  # elements of the busiest PE, at least
RAGGED: Final = 15  # share of the elements in a last outer step that may be still
FIRST_SPAN: Final = 16  # what all PEs cover in the first step, at least
PART: Final = 17  # smallest outer tile of cluster 0 in the last step
FIRST_LEAD: Final = 18  # elements of the busiest PE in the first outer step, at least
# in the first inner step of each outer one, where tiles are known:
FIRST_INNER_LEAD: Final = 19  # elements of the busiest PE
FIRST_INNER_SPAN: Final = 20  # what all PEs cover
TILE: Final = 21  # scratch: a tile whose size is asked for
HOLDERS: Final = 22  # PEs side by side that ever work, at least
BOX_FIELDS: Final = 23
