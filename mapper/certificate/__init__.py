"""Certificates: a proof as a file, and a checker that shares cost model and bounds alone."""

from mapper.certificate.certificate_file import (
    Certificate,
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import Checked, check_certificate
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
from mapper.certificate.verdict import claim_of, network_claim, problem_of, said_of

__all__ = [
    "NETWORK_OBJECTIVES",
    "Certificate",
    "CertificateError",
    "Checked",
    "NetworkCertificate",
    "check_certificate",
    "check_network",
    "claim_of",
    "combine",
    "is_of_network",
    "make_certificate",
    "network_claim",
    "problem_of",
    "read_certificate",
    "read_network",
    "said_of",
    "write_certificate",
    "write_network",
]
