"""Tasks by name: what a team plays."""

from __future__ import annotations

from mast.tasks.registry import LONG_TASKS, TASKS, find_task
from mast.tasks.task import Task
from mast.tasks.team import TeamWorlds

__all__ = ["LONG_TASKS", "TASKS", "Task", "TeamWorlds", "find_task"]
