"""Hostile command lines, one row each; a module here is a list `ROWS` that the test picks up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Row:
    """One command line and what it must say.

    Args:
        words: The command line, as a shell splits it.
        says: What the line on standard error holds.
        files: Files that lie in the folder it runs in, by name.
        code: Exit code: 2 for wrong input, 1 for a fault of the machine.
        env: Variables of the environment.
        process: Run it in a process of its own, by bash: the words may redirect.
    """

    words: str
    says: str
    files: Files = field(default_factory=dict)
    code: int = 2
    env: Mapping[str, str] = field(default_factory=dict)
    process: bool = False


def table(commands: Mapping[str, Mapping[str, str]], files: Files | None = None) -> list[Row]:
    """Rows by how a command line begins, by the words after that: what each must say."""
    return [
        Row(f"{start} {words}".rstrip(), says, files or {})
        for start, rows in commands.items()
        for words, says in rows.items()
    ]


def beside(commands: Mapping[str, Sequence[tuple[Files, str]]]) -> list[Row]:
    """Rows by command line: files that it is given, and what it must say of each."""
    return [Row(words, says, files) for words, rows in commands.items() for files, says in rows]


def holding(name: str, commands: Mapping[str, Sequence[tuple[str | bytes, str]]]) -> list[Row]:
    """Rows by command line: contents of one file, and what it must say of each."""
    return beside(
        {
            words: [({name: content}, says) for content, says in rows]
            for words, rows in commands.items()
        }
    )
