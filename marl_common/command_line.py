"""What every command line of the project does alike: errors, exit codes, commands on demand."""

from __future__ import annotations

import atexit
import errno
import functools
import gc
import importlib
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from marl_common import streams
from marl_common.numbers import MOST_THREADS
from marl_common.packages_beside import check_packages
from marl_common.plain_text import printable, shortened
from marl_common.spelling import suggest

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; ran, but gave no result; wrong command or input; stopped by Ctrl-C."""

COLLECT_AFTER = 50_000
"""New objects after which cycles are looked for: imports make a million objects and no garbage, and
Python's 700 cost a command 0.1 s before it begins."""

UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of writing; those of files name them, so that others are standard output's."""


OPTIONAL = ("torch", "pettingzoo", "mpe2", "safetensors", "numba")
"""Libraries that extras bring."""


class UsageError(ValueError):
    """A command line or environment that cannot be meant."""


class CommandGroup(TyperGroup):
    """A group whose commands are imported when they are used.

    As click's documentation has it ("Lazily Loading Subcommands"): a subclass names the commands,
    each by the module and the function (or :class:`typer.Typer`) behind it.

    Every error becomes one line on standard error and an exit code. ``--debug``, anywhere among the
    words, shows its traceback instead.
    """

    lazy: ClassVar[Mapping[str, str]] = {}
    """Command -> ``module:attribute``, in the order of the help."""
    summaries: ClassVar[Mapping[str, str]] = {}
    """Command -> its line in the list of commands, so that no command is imported to show it."""
    packages: ClassVar[Sequence[str]] = ("marl_common",)
    """Packages whose ValueErrors say that the input is wrong; the command's own is the last."""
    extra: ClassVar[str] = ""
    """The extra that brings an optional library; empty where each command says it."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Options as they were called -> as they are called now."""
    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        return [*super().list_commands(ctx), *self.lazy]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, imported; None where there is none."""
        if self._listing and cmd_name in self.summaries:
            return TyperCommand(cmd_name, help=self.summaries[cmd_name])
        if cmd_name in self.lazy:
            return load_command(cmd_name, self.lazy[cmd_name])
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the summaries of the commands."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words begin with."""
        names = self.list_commands(ctx)
        if args[0] not in names:
            ctx.fail(
                f"no command {args[0]!r}; expected {', '.join(names)}.{suggest(args[0], names)}"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; one line says that Ctrl-C stopped it where it kept nothing."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("error: stopped by Ctrl-C", file=sys.stderr)
            raise

    def main(  # type: ignore[override]  # its other options are passed on
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **options: Any
    ) -> Any:
        """Run a command line and exit."""
        words = list(sys.argv[1:] if args is None else args)
        debug = "--debug" in words
        words = [word for word in words if word != "--debug"]
        name = prog_name or self.name
        options["standalone_mode"] = False
        gc.set_threshold(COLLECT_AFTER)
        atexit.register(gc.freeze)  # else all objects are looked through before they go: 0.2 s
        try:
            streams.prepare()
            _check_words(words)
            _check_environment()
            check_packages(self.packages[-1])
            code = super().main(words, name, **options)
            streams.flush()
        except BrokenPipeError:  # the reader, such as `head`, has gone: nothing left to tell it
            code = FAILED
        except Exception as error:
            if debug:
                raise
            code, text = self._told(error, name or "", words)
            if text:
                print(f"error: {printable(shortened(text))}", file=sys.stderr)
        sys.exit(code or OK)

    def _told(self, error: Exception, name: str, words: Sequence[str]) -> tuple[int, str]:
        """Exit code of an error, and what is said of it."""
        package = type(error).__module__.partition(".")[0]
        if package in ("typer", "click"):
            return self._parser_error(error, words)
        if isinstance(error, ValueError) and package in self.packages:
            return USAGE, str(error)
        if isinstance(error, ImportError) and self.extra and error.name in OPTIONAL:
            return USAGE, f"{error}; install it with: pip install 'marl-mapper[{self.extra}]'"
        if package in self.packages:
            return FAILED, str(error)
        if isinstance(error, MemoryError):
            return FAILED, f"not enough memory ({error})"
        if isinstance(error, OSError) and error.strerror is not None:
            unwritten = error.errno in UNWRITTEN and streams.STDOUT
            where = error.filename or unwritten
            return FAILED, f"{where}: {error.strerror}" if where else error.strerror
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return FAILED, (
            f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno}); "
            f"this is a fault of {name}: run it again with --debug and report what it prints"
        )

    def _parser_error(self, error: Any, words: Sequence[str]) -> tuple[int, str]:
        """What the parser says of a command line, or why a command ended early."""
        if type(error).__name__ == "Abort":
            return FAILED, "aborted"
        if type(error).__name__ == "NoArgsIsHelpError":  # the help was printed instead
            return USAGE, ""
        option = getattr(error, "option_name", "")
        if option in self.renamed:
            return USAGE, f"{option} is called {self.renamed[option]} now"
        context = getattr(error, "ctx", None)
        where = f" (see `{context.command_path} --help`)" if context is not None else ""
        text = error.format_message().rstrip(".")
        given = _all_given(getattr(getattr(error, "param", None), "opts", ()), words)
        if given and text.startswith("Invalid value"):
            option, value = given[-1]  # the parser takes the last one
            times = f", the last of {len(given)} values given" if len(given) > 1 else ""
            text = f"{option}: got {value!r}{times}; {error.message.rstrip('.')}"
        return error.exit_code, f"{text}{where}"


@functools.cache  # a process that gives many commands reads the options of each once
def load_command(name: str, place: str) -> Any:
    """Import a command.

    Args:
        name: What it is called.
        place: ``module:attribute`` of a function, or of a :class:`typer.Typer` with commands of its
            own.
    """
    module, _, attribute = place.partition(":")
    target = getattr(importlib.import_module(module), attribute)
    if not isinstance(target, typer.Typer):
        function, target = target, typer.Typer(add_completion=False)
        target.command(name)(function)
    command = typer.main.get_command(target)
    command.name = name
    return command


def make_app(group: type[CommandGroup], name: str, about: str) -> typer.Typer:
    """A command line with ``--debug`` and ``--version``, whose commands are still to be added.

    Args:
        group: What its commands are.
        name: What it is called.
        about: One line for its help.
    """
    app = typer.Typer(
        cls=group,
        name=name,
        help=about,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def options(debug: bool = False, version: bool = False) -> None:
        pass

    # Typer takes options from annotations, and one of these depends on an argument
    options.__annotations__ |= {
        "debug": Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
        "version": Annotated[bool, _version_option(name)],
    }
    app.callback()(options)
    return app


@functools.cache
def command_of(app: typer.Typer) -> Any:
    """The command of a program, whose options a process reads once."""
    return typer.main.get_command(app)


def _version_option(name: str) -> Any:
    def show(wanted: bool) -> None:
        if wanted:
            from importlib.metadata import version

            typer.echo(f"{name} {version('marl-mapper')}")
            raise typer.Exit

    return typer.Option("--version", help="Print the version.", is_eager=True, callback=show)


def _all_given(options: Sequence[str], words: Sequence[str]) -> list[tuple[str, str]]:
    """An option, by any of its names, with each value that a command line gives it."""
    found = []
    for place, word in enumerate(words):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in options and (equals or place + 1 < len(words)):
            found.append((name, value if equals else words[place + 1]))
    return found


def _check_words(words: Sequence[str]) -> None:
    for place, word in enumerate(words):
        if word == "" or re.fullmatch(r"--[\w-]+=", word):
            before = words[place - 1] if place and not word else word.rstrip("=")
            raise UsageError(f"{before or 'argument'}: got an empty word; give a value")


def _check_environment() -> None:
    """How many threads to use: Numba, where it is imported, fails without saying which it is."""
    name = "NUMBA_NUM_THREADS"
    text = os.environ.get(name, "1")
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_THREADS:
        raise UsageError(
            f"{name}: got {text!r}, expected a whole number from 1 to {MOST_THREADS}; "
            "mend the environment variable or unset it"
        )
