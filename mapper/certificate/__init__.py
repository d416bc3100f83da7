"""Certificates: a proof as a file, and a checker that shares no code with the solver."""

from mapper.certificate.certificate_file import (
    Certificate,
    CertificateError,
    make_certificate,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import Checked, check_certificate

__all__ = [
    "Certificate",
    "CertificateError",
    "Checked",
    "check_certificate",
    "make_certificate",
    "read_certificate",
    "write_certificate",
]
