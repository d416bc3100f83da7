"""What a person asks for: options of a command line or a configuration file, on top of a preset."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from marl_common import LARGEST_SEED, MOST_THREADS
from mst.config import AdamSettings, GptShape, PretrainConfig, SparseSettings
from mst.errors import MstError
from mst.options import (
    OptionRecord,
    OptionText,
    option,
    option_fields,
    option_name,
    parameter,
)
from mst.phases import Phase, parse_phases, phases_text

if TYPE_CHECKING:
    from mst.arms import ArmRun

MOST_TOKENS = 10**15
PartName = Literal["shape", "sparse", "adam", ""]
PARTS: tuple[tuple[PartName, type], ...] = (
    ("sparse", SparseSettings),
    ("shape", GptShape),
    ("adam", AdamSettings),
    ("", PretrainConfig),
)
"""Part of :class:`PretrainConfig` -> the record whose fields are options."""


def settings_options() -> Iterator[tuple[PartName, str, str, Any, OptionText]]:
    """Part, field, name of the option, default and text of every setting."""
    for part, record in PARTS:
        for name, default, text in option_fields(record):
            yield part, name, option_name(name, text), default, text


@dataclass(frozen=True)
class TextOptions(OptionRecord):
    """Which text is learned from, and by which seeds.

    Attributes:
        seed: Seeds; None: 0.
        corpus: Folder that ``mst data`` made.
    """

    seed: list[int] | None = option(
        None, "Repeatable.", kind=list[int], low=0, high=LARGEST_SEED, shown="0"
    )
    corpus: Path = option(Path("mst-data"), "Folder that `mst data` made.", kind=Path)


@dataclass(frozen=True)
class RunningOptions(OptionRecord):
    """How runs are done and kept; nothing here changes what is learned.

    Attributes:
        threads: Processor threads of a run.
        store: Where runs are kept.
        workers: Runs at the same time.
        log: A board that the learning curve is sent to.
        evaluate_every: Updates between points of the learning curve; None: a twentieth of the run.
        save_every: Updates between checkpoints that are kept; None keeps the last and the best.
    """

    threads: int = option(1, "Processor threads.", low=1, high=MOST_THREADS)
    store: str = option("mst-runs.db", "Runs are kept here.")
    workers: int = option(1, "Runs at the same time.", low=1, high=MOST_THREADS)
    log: str | None = option(None, "tensorboard:FOLDER or mlflow:FOLDER.", kind=str)
    evaluate_every: int | None = option(
        None, "Updates between evaluations.", kind=int, low=1, high=10**9, shown="a 20th of the run"
    )
    save_every: int | None = option(
        None, "Updates between checkpoints that are kept.", kind=int, low=1, high=10**9,
        shown="last and best alone",
    )  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What is different from a preset.

    Attributes:
        preset: Its name.
        tokens: Length of the dense run; None: the preset's.
        times: See :func:`mst.arms.arm_run`.
        density_law: Law of phases that name none of their own.
        given: Options of settings -> their values, phases as text.
    """

    preset: str = "small"
    tokens: int | None = None
    times: float | None = None
    density_law: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """What a command that has it takes."""
        own = [
            parameter("preset", "small", OptionText("small, or gpt2.")),
            parameter("tokens", None, OptionText(
                "Tokens of the dense run.", int, low=1, high=MOST_TOKENS, shown="preset")),
            parameter("times", None, OptionText(
                "Times less than dense that dense-short and tiny cost.", float,
                shown="as counted")),
            parameter("density_law", None, OptionText(
                "How density moves in phases: linear, cubic, step.", str, shown="preset")),
        ]  # fmt: skip
        settings = [
            parameter(name, default, text, given=None)
            for _, _, name, default, text in settings_options()
        ]
        return [*own[:2], *settings, *own[2:]]

    @classmethod
    def of_options(cls, values: Mapping[str, Any]) -> Wanted:
        """From a command's values."""
        names = [name for _, _, name, _, _ in settings_options()]
        given = {name: values[name] for name in names if values[name] is not None}
        own = ("preset", "tokens", "times", "density_law")
        return cls(**{name: values[name] for name in own}, given=given)

    def config(self) -> PretrainConfig:
        """Settings of MST.

        Raises:
            MstError: A setting is wrong, or settings do not fit together.
        """
        from mst.presets import preset

        base = preset(self.preset).config
        parts: dict[str, dict[str, Any]] = {part: {} for part, _ in PARTS}
        for part, name, option_, _, _ in settings_options():
            if option_ in self.given:
                parts[part][name] = self.given[option_]
        parts["sparse"] |= self._phases(base.sparse.phases)
        own = parts.pop("")
        if "batch" in own and "micro_batch" not in own:
            own["micro_batch"] = own["batch"]
        made = {part: replace(getattr(base, part), **held) for part, held in parts.items()}
        return replace(base, **made, **own)

    def _phases(self, usual: tuple[Phase, ...]) -> dict[str, Any]:
        if "phases" in self.given:
            return {"phases": parse_phases(self.given["phases"], self.density_law or "linear")}
        if self.density_law is None:
            return {}
        return {"phases": tuple(replace(phase, law=self.density_law) for phase in usual)}

    @property
    def length(self) -> int:
        """Tokens of the dense run."""
        from mst.presets import preset

        return self.tokens or preset(self.preset).tokens

    def arm_run(self, arm: str) -> ArmRun:
        """The run of an arm.

        Raises:
            MstError: There is no such arm, or a setting is wrong.
        """
        from mst.arms import arm_run

        return arm_run(arm, self.config(), self.length, self.times)

    def for_vocabulary(self, rows: int, tokens: int) -> Wanted:
        """The same with an embedding of so many rows, which a text needs.

        Args:
            rows: Rows to have where none were asked for.
            tokens: Tokens of the text's tokenizer.

        Raises:
            MstError: Fewer rows were asked for than there are tokens.
        """
        asked = self.given.get("vocabulary")
        if asked is None:
            return replace(self, given={**self.given, "vocabulary": rows})
        if asked < tokens:
            raise MstError(
                f"vocabulary: got {asked}, expected at least the {tokens} tokens of the corpus; "
                "leave --vocabulary out"
            )
        return self

    def label(self) -> str:
        """What differs from the preset, as part of a run's name."""
        from mst.presets import preset

        usual, found = _values(preset(self.preset).config), _values(self.config())
        if found["micro_batch"] == found["batch"]:
            del found["micro_batch"]
        if "phases" not in self.given:
            found |= {"phases": usual["phases"]}
        parts = [self.preset] if self.preset != "small" else []
        parts += [f"{name} {_brief(v)}" for name, v in found.items() if v != usual[name]]
        for name in ("density_law", "tokens"):
            value = getattr(self, name)
            parts += [] if value is None else [f"{name} {value}"]
        return " ".join(parts)

    def resolved(self) -> dict[str, Any]:
        """Every option with its value, as a configuration file has it."""
        found = {"preset": self.preset, "tokens": self.length, **_values(self.config())}
        return found | ({} if self.times is None else {"times": self.times})


def _values(config: PretrainConfig) -> dict[str, Any]:
    """Options -> values of settings."""
    found = {}
    for part, name, option_, _, _ in settings_options():
        value = getattr(getattr(config, part) if part else config, name)
        found[option_] = phases_text(value) if name == "phases" else value
    return found


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
