"""The checker: every bound of a certificate is worked out again, and every box is counted.

It asks the cost model for bounds and costs, and the map space for its parameters; it runs nothing
of the solver.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from cost_models import (
    ChainMapping,
    Mapping,
    MappingError,
    RetiredOptionError,
)
from maestro_env import Evaluation, MapSpaceError, Problem
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.chain_walk import check_chain
from mapper.certificate.looks import ROUNDING, Beside, Looks
from mapper.certificate.tree_check import check_tree
from marl_common import brief, suggest


@dataclass(frozen=True)
class Checked:
    """What was checked of a certificate that holds.

    Args:
        size: Mappings of the space, all of them in a box that is ruled out or settled.
        boxes: Boxes and structures; on two levels, of the whole tree.
        ruled_out: Boxes whose bound is at or above the claimed one.
        settled: Structures whose loop orders were all evaluated.
        evaluated: Mappings evaluated for it.
        gap: How far above the optimum the claimed value may be, as a share.
        seconds: Processor time [s].
        limits: Where no mapping is feasible: boxes that each limit rules out.
        alone: Boxes that the checker's own relaxation rules out by itself.
        beside: Mappings that were looked at beside.
    """

    size: int
    boxes: int
    ruled_out: int
    settled: int
    evaluated: int
    gap: float
    seconds: float
    limits: dict[str, int]
    alone: int
    beside: Beside


def check_certificate(
    certificate: Certificate, on_step: Callable[[int], None] | None = None
) -> Checked:
    """Check that a certificate holds.

    Args:
        certificate: The certificate.
        on_step: Called with the number of boxes checked so far.

    Raises:
        CertificateError: It does not, or the model cannot cost its problem; says what is wrong.
    """
    try:
        return _checked(certificate, on_step)
    except CertificateError:
        raise
    except ValueError as error:  # what a model finds out when it is asked
        raise CertificateError(f"problem: {error}") from None


def _checked(certificate: Certificate, on_step: Callable[[int], None] | None) -> Checked:
    began = time.process_time()
    problem = _built(certificate)
    _check_claim(certificate, problem)
    looks = Looks(problem, certificate.bound)
    check = check_chain if certificate.is_chain else check_tree
    walked = check(certificate, problem, looks, on_step)
    if walked.covered != problem.space.size:
        raise CertificateError(
            f"tree: its boxes hold {walked.covered:,} mappings, the space has "
            f"{problem.space.size:,}"
        )
    beside = looks.beside()
    return Checked(
        walked.covered, walked.boxes, walked.ruled_out, walked.settled, walked.evaluated,
        certificate.gap, time.process_time() - began, walked.limits, walked.alone, beside,
    )  # fmt: skip


def _check_claim(certificate: Certificate, problem: Problem) -> None:
    """Check what the certificate says of its problem, mapping and value."""
    if certificate.size != problem.space.size:
        raise CertificateError(
            f"size: {certificate.size:,} mappings are claimed, the space has {problem.space.size:,}"
        )
    if certificate.bound > certificate.value:
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is above the value {certificate.value:.9g}"
        )
    _check_emptiness(certificate)
    if certificate.mapping is not None:
        _check_value(certificate, problem)


def _check_emptiness(certificate: Certificate) -> None:
    """Check that a mapping and a value are claimed, or neither and a bound of inf."""
    if (certificate.mapping is None) != math.isinf(certificate.value):
        there = "none, but a value" if certificate.mapping is None else "one, but no value"
        raise CertificateError(f"mapping: there is {there}; expected both or neither")
    if certificate.mapping is None and math.isfinite(certificate.bound):
        raise CertificateError(
            "value: no mapping is claimed to be feasible, but the bound is "
            f"{certificate.bound:.9g}, expected inf: no limit rules the space out; prove again"
        )


def _built(certificate: Certificate) -> Problem:
    """The problem, whose cost model's options are all known to it.

    Raises:
        CertificateError: It cannot be built, or has an option that changes nothing.
    """
    spec = certificate.problem
    table = str(spec.cost_model_options.get("energy", ""))
    if Path(table).suffix in (".yaml", ".yml") and not Path(table).is_file():
        raise CertificateError(
            f"problem.cost_model_options.energy: {brief(table)} is no file here; check the "
            "certificate where its energy table is"
        )
    try:
        problem = spec.build()
    except RetiredOptionError as error:
        raise CertificateError(f"not replayed: made with {error.chosen}") from None
    except (ValueError, TypeError) as error:
        raise CertificateError(f"problem: {error}") from None
    known = getattr(problem.cost_model, "options", {})
    for name in spec.cost_model_options:
        if name not in known:
            raise CertificateError(
                f"problem.cost_model_options: unknown option {brief(name)}; expected some of "
                f"{', '.join(known)}.{suggest(name, known)}"
            )
    return problem


def _check_value(certificate: Certificate, problem: Problem) -> None:
    assert certificate.mapping is not None
    again = float(_looked(certificate.mapping, problem).values[0])
    if not math.isclose(again, certificate.value, rel_tol=ROUNDING):
        raise CertificateError(
            f"value: {certificate.value:.9g} is claimed, the model gives the mapping {again:.9g}"
        )


def costs_of(mapping: Mapping | ChainMapping, problem: Problem) -> tuple[float, float]:
    """Latency [cycles] and energy [nJ] of a mapping.

    Raises:
        CertificateError: It is not in the space, or does not keep the limits.
    """
    looked = _looked(mapping, problem)
    if not math.isfinite(looked.values[0]):
        raise CertificateError("it does not fit what is left of L2, or the chip")
    costs = looked.costs
    return float(costs.column("latency_cycles")[0]), float(costs.column("energy_nj")[0])


def _looked(mapping: Mapping | ChainMapping, problem: Problem) -> Evaluation:
    """A claimed mapping, evaluated.

    Raises:
        CertificateError: It is not in the space.
    """
    try:
        looked = problem.look(problem.action_of(mapping))
    except MappingError as error:
        raise CertificateError(f"mapping: it is not one of the chip: {error}") from None
    except MapSpaceError as error:
        raise CertificateError(f"mapping: it is not in the space: {error}") from None
    if looked.mappings[0] != mapping:
        raise CertificateError(
            "mapping: it is not in the space, whose nearest one differs in "
            f"{_differences(looked.mappings[0], mapping)}"
        )
    return looked


def _differences(one: Mapping | ChainMapping, other: Mapping | ChainMapping) -> str:
    """The fields in which two mappings differ."""
    return ", ".join(
        item.name for item in fields(one) if getattr(one, item.name) != getattr(other, item.name)
    )
