"""The checker: every bound of a certificate is worked out again, and every box is counted.

It asks the cost model for bounds and costs, and the map space for its parameters; it runs nothing
of the solver.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
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
from mapper.certificate.walked import Walked
from marl_common import brief, suggest


@dataclass(kw_only=True)
class Checked(Walked):
    """What was checked of a certificate that holds.

    Args:
        gap: How far above the optimum the claimed value may be, as a share.
        seconds: Processor time [s].
        beside: Mappings that were looked at beside.
    """

    gap: float
    seconds: float
    beside: Beside


def check_certificate(certificate: Certificate) -> Checked:
    """Check that a certificate holds.

    Raises:
        CertificateError: It does not, or the model cannot cost its problem; says what is wrong.
    """
    try:
        return _checked(certificate)
    except CertificateError:
        raise
    except ValueError as error:  # what a model finds out when it is asked
        raise CertificateError(f"problem: {error}") from None


def _checked(certificate: Certificate) -> Checked:
    began = time.process_time()
    problem = _built(certificate)
    _check_claim(certificate, problem)
    looks = Looks(problem, certificate.bound)
    check = check_chain if certificate.is_chain else check_tree
    walked = check(certificate, problem, looks)
    if walked.size != problem.space.size:
        raise CertificateError(
            f"tree: its boxes hold {walked.size:,} mappings, the space has {problem.space.size:,}"
        )
    beside, gap = looks.beside(), certificate.gap
    return Checked(**vars(walked), gap=gap, seconds=time.process_time() - began, beside=beside)


def check_parts(parts: Sequence[Certificate]) -> list[Checked]:
    """Check the certificates that another one stands on.

    Raises:
        CertificateError: One does not hold; says which.
    """
    checked = []
    for number, part in enumerate(parts, 1):
        try:
            checked.append(check_certificate(part))
        except CertificateError as error:
            raise CertificateError(f"shape-{number}: {error}") from None
    return checked


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
