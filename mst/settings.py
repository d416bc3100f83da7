"""What a person asks for: options of a command line or a configuration file, on top of a preset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marl_common import LARGEST_SEED, Given, option
from marl_runs import RunningOptions, SeedOptions
from mst.config import AdamSettings, GptShape, PretrainConfig, SparseSettings
from mst.errors import MstError
from mst.phases import Phase, parse_phases, phases_text

if TYPE_CHECKING:
    from mst.arms import ArmRun
    from mst.data import Manifest

MOST_TOKENS = 10**15
PARTS = {SparseSettings: "sparse", GptShape: "shape", AdamSettings: "adam", PretrainConfig: ""}
"""What a configuration is made of -> its place in it."""


@dataclass(frozen=True)
class CorpusOptions:
    """How a corpus is made.

    Attributes:
        out: Folder to make.
        tokenizer: bytes, bpe (learned from the text), or a tokenizer.json.
        vocabulary: Tokens that bpe learns.
        held_out_share: Share of each file, its end, that is not trained on.
        package: Installed package to train on. Repeatable.
        held_out: Package never trained on.
        standard_library: Whether Python's own sources are read.
    """

    out: Path = option(Path("mst-data"), "", "--out", "-o")
    tokenizer: str = option("bytes")
    vocabulary: int = option(4096, low=257, high=2**20)
    held_out_share: float = option(0.05)
    package: tuple[str, ...] = option((), shown="several")
    held_out: str = option("networkx")
    standard_library: bool = option(True)

    def make(self, source: Path | None) -> Manifest:
        """Make the corpus of a text, or of the Python sources that are installed here.

        Raises:
            CorpusError: There is no such text, or too little.
        """
        from marl_runs import writable
        from mst.data import PACKAGES, TokenizerChoice, build, build_own

        writable(self.out.absolute().parent)
        choice = TokenizerChoice(self.tokenizer, self.vocabulary)
        if source is not None:
            return build_own(self.out, source, self.held_out_share, choice)
        packages = self.package or PACKAGES
        return build(self.out, packages, self.held_out, self.standard_library, choice)


@dataclass(frozen=True)
class Drawing:
    """How tokens are drawn.

    Attributes:
        length: Bytes to write, or tokens of bpe.
        temperature: 0 takes the likeliest byte.
        top_k: Draw from so many.
        seed: Draws the bytes.

    Raises:
        MstError: A number out of range.
    """

    length: int = option(200, low=1, high=10**6)
    temperature: float = option(0.8)
    top_k: int | None = option(None, kind=int, low=1, high=2**20, shown="all")
    seed: int = option(0, low=0, high=LARGEST_SEED)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise MstError(f"temperature: got {self.temperature}, expected 0 or more; 0.8 is usual")


@dataclass(frozen=True)
class TextOptions(SeedOptions):
    """Which text is learned from, and by which seeds.

    Attributes:
        corpus: Folder that `mst data` made.
    """

    corpus: Path = option(Path("mst-data"))


@dataclass(frozen=True)
class PretrainingOptions(RunningOptions):
    """How runs are done and kept; nothing here changes what is learned.

    Attributes:
        evaluate_every: Updates between evaluations.
        save_every: Updates between checkpoints that are kept.
    """

    store: str = option("mst-runs.db")
    evaluate_every: int | None = option(
        None, kind=int, low=1, high=10**9, shown="a 20th of the run"
    )
    save_every: int | None = option(None, kind=int, low=1, high=10**9, shown="last and best alone")


@dataclass(frozen=True)
class Wanted(Given):
    """What is different from a preset.

    Attributes:
        preset: small (or fast), close, gpt2.
        tokens: Tokens of the dense run.
        phases: NAME:START-END:LAW:ATTENTION, comma-separated.
        times: Times less than dense that dense-short and tiny cost.
        density_law: How density moves in phases: linear, cubic, step.
    """

    parts = tuple(PARTS)

    preset: str = option("small")
    tokens: int | None = option(None, kind=int, low=1, high=MOST_TOKENS, shown="preset")
    phases: str | None = option(None, shown="preset")
    times: float | None = option(None, kind=float, shown="as counted")
    density_law: str | None = option(None, shown="preset")

    def config(self) -> PretrainConfig:
        """Settings of MST.

        Raises:
            MstError: A setting is wrong, or settings do not fit together.
        """
        from mst.presets import preset

        base = preset(self.preset).config
        parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS.values()}
        for record, name, key, _, _ in self.settings():
            if key in self.given:
                parts[PARTS[record]][name] = self.given[key]
        parts["sparse"] |= self._phases(base.sparse.phases)
        own = parts.pop("")
        if "batch" in own and "micro_batch" not in own:
            own["micro_batch"] = own["batch"]
        made = {part: replace(getattr(base, part), **held) for part, held in parts.items()}
        return replace(base, **made, **own)

    def _phases(self, usual: tuple[Phase, ...]) -> dict[str, Any]:
        if self.phases is not None:
            return {"phases": parse_phases(self.phases, self.density_law or "linear")}
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
        from mst.presets import SMALL, preset

        usual, found = _values(preset(self.preset).config), _values(self.config())
        if found["micro_batch"] == found["batch"]:
            del found["micro_batch"]
        if self.phases is None:
            found |= {"phases": usual["phases"]}
        parts = [] if preset(self.preset) is SMALL else [self.preset]
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
    found = {"phases": phases_text(config.sparse.phases)}
    for record, name, key, _, _ in Wanted.settings():
        found[key] = getattr(getattr(config, PARTS[record]) if PARTS[record] else config, name)
    return found


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
