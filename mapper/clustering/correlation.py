"""How strongly each pair of parameters goes together among the best samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from marl_common import FloatArray, IntArray

METHODS = ("pearson", "spearman", "mutual-information")
OBJECTIVE = "objective"
"""The column of the objective's values beside the parameters'."""
_BINS = 8


class ClusteringError(ValueError):
    """An option of the clustering that is not known, or too little to cluster."""


@dataclass(frozen=True)
class Correlation:
    """A correlation matrix of parameters.

    Args:
        names: The `P` parameters.
        matrix: ``(P, P)``, symmetric, 1 on the diagonal. Numeric pairs under ``pearson`` and
            ``spearman`` carry a sign; every other entry lies in [0, 1].
        method: One of `METHODS`.
        constant: Parameters with one value among the samples; they correlate with nothing (0).
        samples: Rows it was computed from.
        reward: ``(P,)`` correlation of each parameter with the objective, like a row of the matrix;
            None where no values were given.
    """

    names: tuple[str, ...]
    matrix: FloatArray
    method: str
    constant: tuple[str, ...]
    samples: int
    reward: FloatArray | None = None

    def ordered(self, names: Sequence[str]) -> Correlation:
        """The same matrix with its parameters in the order of `names`."""
        rows = [self.names.index(name) for name in names]
        reward = None if self.reward is None else self.reward[rows]
        matrix = self.matrix[np.ix_(rows, rows)]
        return replace(self, names=tuple(names), matrix=matrix, reward=reward)


def correlate(
    actions: IntArray,
    names: tuple[str, ...],
    categorical: NDArray[np.bool_],
    method: str = "pearson",
    values: FloatArray | None = None,
) -> Correlation:
    """Correlate the columns of `actions`, and each of them with the objective.

    Ordered parameters (tiles, cluster size, loop priorities) enter by the index of their choice,
    which is monotone in its value. A category (parallel dimension, permutation index) has no order,
    so r does not exist for it: against an ordered parameter the correlation ratio eta stands in its
    place, against another category Cramer's V (bias-corrected, Bergsma 2013). All three are 0
    without association and 1 for a function.

    Args:
        actions: ``(n, P)`` choice indices.
        names: The `P` parameters' names.
        categorical: ``(P,)``, True where the choices have no order.
        method: One of `METHODS`. ``mutual-information`` is ``sqrt(1 - exp(-2 I))``, the ``|r|``
            that a Gaussian pair of the same mutual information I would have, on at most 8 bins a
            parameter, less the bias of a finite sample (Miller and Madow).
        values: ``(n,)`` objective values of the rows, finite; they enter by rank, so that it does
            not matter whether the value or the reward 1 / value is meant.

    Raises:
        ClusteringError: The method is unknown, its package is missing, or there are fewer than 3
            rows.
    """
    if method not in METHODS:
        raise ClusteringError(
            f"correlation method {method!r}: expected one of {', '.join(METHODS)}"
        )
    if len(actions) < 3:
        raise ClusteringError(f"got {len(actions)} samples to correlate, expected at least 3")
    if values is not None:
        _, rank = np.unique(values, return_inverse=True)
        found = correlate(
            np.column_stack([actions, rank]),
            (*names, OBJECTIVE),
            np.append(categorical, False),
            method,
        )
        whole, still = found.matrix, tuple(name for name in found.constant if name != OBJECTIVE)
        return Correlation(names, whole[:-1, :-1], method, still, len(actions), whole[-1, :-1])
    varying = np.flatnonzero(actions.min(axis=0) != actions.max(axis=0))
    matrix = np.eye(len(names))
    if len(varying) > 1:
        block = _matrix(actions[:, varying], categorical[varying], method)
        np.fill_diagonal(block, 1.0)
        matrix[np.ix_(varying, varying)] = block
    still = tuple(name for i, name in enumerate(names) if i not in varying)
    return Correlation(names, matrix, method, still, len(actions))


def _matrix(actions: IntArray, categorical: NDArray[np.bool_], method: str) -> FloatArray:
    """``(P, P)``, of parameters none of which is constant."""
    if method == "mutual-information":
        return _mutual_information(actions)
    matrix = _spearman(actions) if method == "spearman" else np.corrcoef(actions, rowvar=False)
    # rows and columns are scaled one after the other there: the last bits may differ
    symmetric = np.clip((matrix + matrix.T) / 2.0, -1.0, 1.0)
    _fill_categories(symmetric, actions, categorical)
    return symmetric


def _spearman(actions: IntArray) -> FloatArray:
    from scipy.stats import spearmanr

    found = np.asarray(spearmanr(actions).statistic)
    if found.ndim:
        return found
    return np.array([[1.0, found], [found, 1.0]])  # of two columns it gives the one number


def _fill_categories(matrix: FloatArray, actions: IntArray, categorical: NDArray[np.bool_]) -> None:
    for i in np.flatnonzero(categorical):
        for j in range(len(matrix)):
            if i == j:
                continue
            if not categorical[j]:
                value = _correlation_ratio(actions[:, i], actions[:, j])
            else:
                value = _cramers_v(actions[:, i], actions[:, j])
            matrix[i, j] = matrix[j, i] = value


def _correlation_ratio(category: IntArray, number: IntArray) -> float:
    """Eta: the root of the share of the variance that lies between categories."""
    _, group = np.unique(category, return_inverse=True)
    counts = np.bincount(group)
    means = np.bincount(group, weights=number) / counts
    total = float(((number - number.mean()) ** 2).sum())
    between = float((counts * (means - number.mean()) ** 2).sum())
    if total == 0.0:
        return 0.0
    # less what k groups explain by chance (epsilon squared, Kelley 1935)
    chance = (len(counts) - 1) * (total - between) / max(len(number) - len(counts), 1)
    return float(np.sqrt(np.clip((between - chance) / total, 0.0, 1.0)))


def _cramers_v(a: IntArray, b: IntArray) -> float:
    """Cramer's V less its bias in a finite sample (Bergsma 2013)."""
    from scipy.stats import chi2_contingency
    from scipy.stats.contingency import crosstab

    table = np.asarray(crosstab(a, b).count)
    n, (rows, cols) = len(a), table.shape
    phi2 = chi2_contingency(table, correction=False).statistic / n
    phi2 = max(0.0, phi2 - (rows - 1) * (cols - 1) / (n - 1))
    rows_c = rows - (rows - 1) ** 2 / (n - 1)
    cols_c = cols - (cols - 1) ** 2 / (n - 1)
    return float(np.sqrt(min(1.0, phi2 / max(min(rows_c, cols_c) - 1.0, 1e-12))))


def _binned(column: IntArray) -> IntArray:
    values = np.unique(column)
    if len(values) <= _BINS:
        return column
    edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, _BINS + 1)[1:-1]))
    return np.searchsorted(edges, column, side="right").astype(np.int64)


def _mutual_information(actions: IntArray) -> FloatArray:
    try:
        from sklearn.metrics import mutual_info_score
    except ImportError as error:
        raise ClusteringError(
            "correlation method 'mutual-information' needs the package scikit-learn; "
            "install it with: pip install 'marl-mapper[rl]'"
        ) from error
    columns = [_binned(column) for column in actions.T]
    bins = [len(np.unique(column)) for column in columns]
    matrix = np.zeros((len(columns), len(columns)))
    for i, a in enumerate(columns):
        for j in range(i):
            information = mutual_info_score(a, columns[j])
            information -= (bins[i] - 1) * (bins[j] - 1) / (2.0 * len(a))
            matrix[i, j] = matrix[j, i] = np.sqrt(1.0 - np.exp(-2.0 * max(0.0, information)))
    return matrix
