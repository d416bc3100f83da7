"""Certificates: a proof as a file, and a checker that shares cost model and bounds alone."""

from mapper.certificate.certificate_file import (
    Certificate,
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import Checked, check_certificate
from mapper.certificate.making import make_certificate
from mapper.certificate.verdict import claim_of, problem_of, said_of

__all__ = [
    "Certificate",
    "CertificateError",
    "Checked",
    "check_certificate",
    "claim_of",
    "make_certificate",
    "problem_of",
    "read_certificate",
    "said_of",
    "write_certificate",
]
