"""Certificates: a proof as a file, and a checker that shares cost model and bounds alone."""

from mapper.certificate.certificate_file import (
    Certificate,
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import Checked, check_certificate
from mapper.certificate.kept_certificate import KeptCertificate, is_kept, read_kept, write_kept
from mapper.certificate.kept_checker import check_kept
from mapper.certificate.kept_making import Proved, make_kept
from mapper.certificate.making import make_certificate
from mapper.certificate.network_certificate import (
    NETWORK_OBJECTIVES,
    NetworkCertificate,
    check_network,
    combine,
    is_of_network,
    read_network,
    write_network,
)
from mapper.certificate.verdict import claim_of, kept_claim, network_claim, problem_of, said_of

__all__ = [
    "NETWORK_OBJECTIVES",
    "Certificate",
    "CertificateError",
    "Checked",
    "KeptCertificate",
    "NetworkCertificate",
    "Proved",
    "check_certificate",
    "check_kept",
    "check_network",
    "claim_of",
    "combine",
    "is_kept",
    "is_of_network",
    "kept_claim",
    "make_certificate",
    "make_kept",
    "network_claim",
    "problem_of",
    "read_certificate",
    "read_kept",
    "read_network",
    "said_of",
    "write_certificate",
    "write_kept",
    "write_network",
]
