"""Ray, for the runner and the RLlib learner: join a cluster, or start a small one here."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from typing import Any

CONNECT_S = 10.0
LONGEST_FOLDER = 40
"""Ray's sockets lie a good 60 characters below its folder, and a socket's path ends at 107."""


class RayMissingError(ValueError):
    """Ray is not installed."""


class RayConnectionError(ValueError):
    """The address is none, or no Ray cluster takes us in there."""


@contextmanager
def ray_session(address: str, processors: int = 1) -> Iterator[Any]:
    """The module ``ray``, connected for the length of the block.

    A connection that this process has already is used, and left alone.

    Args:
        address: ``auto``, ``HOST:PORT`` of a head, or ``local``, which starts a cluster on this
            machine and removes it, with all its files, at the end.
        processors: Of a local cluster.

    Raises:
        RayMissingError: Ray is not installed.
        RayConnectionError: `address` is none of these, no cluster takes us in, or none starts here.
    """
    check_ray_address(address)
    ray = _imported()
    if ray.is_initialized():
        yield ray
        return
    with ExitStack() as ends:
        # Ray reports lost workers on standard output, where only results belong.
        ends.enter_context(redirect_stdout(sys.stderr))
        if address == "local":
            short = len(tempfile.gettempdir()) < LONGEST_FOLDER  # as Ray's sockets need it
            folder = ends.enter_context(
                tempfile.TemporaryDirectory(
                    prefix="mapper-", dir=None if short else "/tmp", ignore_cleanup_errors=True
                )
            )
            ends.callback(ray.shutdown)
            _start(ray, processors, folder)
        else:
            ends.callback(ray.shutdown)
            _join(ray, address)
        yield ray


def check_ray_address(address: str) -> None:
    """Refuse what is neither ``auto`` nor ``local`` nor ``HOST:PORT``.

    Raises:
        RayConnectionError: See above.
    """
    host, colon, port = address.rpartition(":")
    if address in ("auto", "local") or (colon and host and "/" not in host and port.isdecimal()):
        return
    raise RayConnectionError(
        f"--ray-address: got {address!r}, expected auto, HOST:PORT of a cluster that was started "
        "with `ray start --head`, or local"
    )


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise RayMissingError(
            "--ray-address needs Ray, which is not installed; "
            "install it with: pip install 'marl-mapper[rllib]'"
        ) from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


def _start(ray: Any, processors: int, folder: str) -> None:
    if not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & set(os.environ):
        # Otherwise Ray writes a token into the home folder and leaves it there.
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(16)
    try:
        ray.init(
            num_cpus=processors,
            object_store_memory=150_000_000,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            logging_level=logging.ERROR,
            _temp_dir=folder,
        )
    except Exception as error:  # Ray has no narrower class for a node that is late
        raise RayConnectionError(
            f"--ray-address local: Ray did not start here ({_first_line(error)}); "
            "free processors and memory and try again, or start a cluster with `ray start --head`"
        ) from error


def _join(ray: Any, address: str) -> None:
    if address != "auto":
        _check_answers(address)
    _use_token()
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = _first_line(error)
        raise RayConnectionError(
            f"--ray-address {address}: no cluster takes us in ({reason}); expected a head that "
            f"`ray start --head` of Ray {ray.__version__} started; if it asks for a token, put "
            "what its ~/.ray/auth_token holds into RAY_AUTH_TOKEN here, or start it with "
            "RAY_AUTH_MODE=disabled"
        ) from error


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _check_answers(address: str) -> None:
    """Try the port first: Ray itself waits for minutes where nobody listens."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise RayConnectionError(
            f"--ray-address {address}: nobody answers there ({error}); "
            "start a cluster with `ray start --head`, or give local"
        ) from None


def _use_token() -> None:
    """Show the cluster the token that this machine has, if any.

    A head asks for one as soon as its machine has one, and any local start of Ray leaves one.
    Ray itself shows it for ``auto`` only, so that the machine's own head refuses its HOST:PORT.
    """
    try:
        from ray._private.authentication import authentication_token_setup as setup
    except ImportError:  # before Ray knew tokens
        return
    setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
