"""Answers that are known already: in this process, and in a file that outlives it.

An answer to a proof that was asked for is one to every question that asks for no tighter one. So
each is kept twice: under the whole question, and, where it is proven how far it is from the
optimum, under the problem alone, where a tighter one replaces it.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import math
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from baselines import SearchResult, problem_key
from maestro_env import Problem
from marl_common import brief
from marl_mapper.mapped_values import FORMAT, VERSION, result_of
from marl_mapper.options import LibraryError
from marl_runs import plain

ABSENT = math.inf
"""Stands for the gap of an answer that is not kept."""
UNPROVEN = math.nextafter(math.inf, 0)
"""Stands for the gap of an answer of which nothing is proven."""
MOST = 10_000
"""Answers that a process keeps; the one that was asked for longest ago leaves first."""


@dataclass(frozen=True)
class Question:
    """What is asked of a problem.

    Args:
        problem: Layer, chip, objective, cost model, space and limits.
        keys: Under which its answer is kept: the whole question, and for proofs the problem alone.
        gap: An answer proven to be within this share of the optimum will do; None where no proof
            is asked for.
    """

    problem: Problem
    keys: tuple[str, ...]
    gap: float | None = None

    @classmethod
    def of(cls, problem: Problem, how: Mapping[str, Any]) -> Question:
        """The question; `how` is all that decides which answer a search of the problem gives."""
        key = problem_key(problem)
        whole = json.dumps([key, how], sort_keys=True, default=repr)
        return cls(problem, (hashlib.sha256(whole.encode()).hexdigest()[:24],))

    def of_proof(self, gap: float) -> Question:
        """The same, where any answer that is proven to be within a gap will do."""
        return Question(self.problem, (self.keys[0], problem_key(self.problem)), gap)

    def choose(self, gaps: Sequence[float | None]) -> int | None:
        """Which of the answers that are kept under the keys is the one; None where none is.

        Args:
            gaps: Of the answers, by key; :data:`ABSENT` where there is none.
        """
        own, *others = gaps
        if own == ABSENT and not any(gap is not None and gap <= (self.gap or 0) for gap in others):
            return None
        return min(range(len(gaps)), key=lambda place: _gap(gaps[place]))


_known: OrderedDict[str, SearchResult] = OrderedDict()
_lock = threading.Lock()


def recall(question: Question) -> SearchResult | None:
    """The answer of this process to a question; None where it has none."""
    with _lock:
        found = [_known.get(key) for key in question.keys]
        place = question.choose([ABSENT if one is None else one.gap for one in found])
        if place is None:
            return None
        _known.move_to_end(question.keys[place])
        return _own(_known[question.keys[place]])


def keep(question: Question, result: SearchResult) -> None:
    """Keep an answer in this process."""
    with _lock:
        for key in question.keys:
            before = _known.get(key)
            if before is None or _gap(result.gap) <= _gap(before.gap):
                _known[key] = _own(result)
                _known.move_to_end(key)
        while len(_known) > MOST:
            _known.popitem(last=False)


def tighter(one: SearchResult | None, other: SearchResult | None) -> SearchResult | None:
    """The answer that is nearer to the optimum, as far as is proven; the first of equals."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda result: _gap(result.gap))


def _own(result: SearchResult) -> SearchResult:
    """A result whose action and mapping nobody else has."""
    action = None if result.best_action is None else result.best_action.copy()
    return replace(result, best_action=action, mapping=copy.deepcopy(result.mapping))


def _gap(gap: float | None) -> float:
    return UNPROVEN if gap is None else gap


class AnswerFile:
    """Answers in an SQLite file that several processes may use at once.

    Args:
        path: The file; it is made where there is none.

    Raises:
        LibraryError: It cannot be read and written, or is a file of another kind.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        # answers of other versions of the program are not found
        self._stamp = f"{FORMAT} {VERSION} {version('marl-mapper')}"
        with self._errors_named():
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            if self._connection.execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name <> 'answers'"
            ).fetchone():
                raise LibraryError(f"store: {path} is another kind of file; give one of its own")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, gap REAL, answer TEXT)"
                " WITHOUT ROWID"
            )
            self._connection.execute("BEGIN IMMEDIATE")  # fails where nothing can be written
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def holds(self, question: Question) -> bool:
        """Whether there is an answer under the whole question."""
        return self._row(question.keys[0]) is not None

    def recall(self, question: Question) -> SearchResult | None:
        """The answer to a question; None where there is none that the model still agrees with."""
        rows = [self._row(key) for key in question.keys]
        place = question.choose([ABSENT if row is None else row[0] for row in rows])
        row = None if place is None else rows[place]
        if row is not None:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                return result_of(json.loads(row[1]), question.problem)
        return None

    def _row(self, key: str) -> tuple[float | None, str] | None:
        """Gap and text of an answer."""
        with self._errors_named():
            found: tuple[float | None, str] | None = self._connection.execute(
                "SELECT gap, answer FROM answers WHERE key = ?", (f"{key} {self._stamp}",)
            ).fetchone()
            return found

    def keep(self, question: Question, answer: dict[str, Any], gap: float | None) -> None:
        """Keep an answer, as JSON values, unless a tighter one is there."""
        text = json.dumps(plain(answer))
        with self._errors_named():
            for key in question.keys:
                self._connection.execute(
                    "INSERT INTO answers VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET "
                    "gap = ?2, answer = ?3 WHERE ifnull(?2, 9e999) <= ifnull(gap, 9e999)",
                    (f"{key} {self._stamp}", gap, text),
                )

    @contextlib.contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LibraryError(
                f"store: {brief(str(self.path))}: {error}; expected an SQLite file, new or its "
                "own, in a folder that can be written to"
            ) from None
