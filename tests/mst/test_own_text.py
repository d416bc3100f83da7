"""A text of the user's: from a file to a sample, in shards, by tokens, and refusals."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")
pytest.importorskip("tokenizers", reason="extra `bpe` is not installed")

from mst.data import Corpus, PairTokenizer, Shards, TokenizerChoice, build_own, parts, shards
from mst.data.parts import TextPart, pieces
from mst.evaluating import bits_per_byte
from mst.model import SparseGpt
from tests.mst.small import OPTIONS
from tests.programs import answer, give

DOCS = Path(__file__).parents[2] / "docs" / "mst.md"
SMALL = (*OPTIONS, "--tokens", 960)
LINES = [f"line {n}: the quick brown fox jumps over {n * n} lazy dogs, äöü\n" for n in range(400)]


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my.txt"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def documented() -> list[list[str]]:
    """The three commands of the page: from a text file to a sample."""
    text = DOCS.read_text(encoding="utf-8")
    fence = re.search(r"^```sh\n(mst data my\.txt.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in fence[1].splitlines()]


def test_the_three_commands_of_the_page_lead_from_a_text_to_a_sample(book):
    data, train, sample = documented()
    assert (data[0], train[0], sample[0]) == ("data", "train", "sample")
    give("mst", *data, "--vocabulary", 300)
    give("mst", *train, *SMALL)
    prompt = sample[sample.index("--prompt") + 1]
    assert give("mst", *sample, "--length", 8).startswith(prompt)


def test_bytes_are_the_text_cut_at_a_line(book, tmp_path):
    manifest = build_own(tmp_path / "text", book, 0.1)
    corpus = Corpus.open(tmp_path / "text")
    train, held = (bytes(corpus.texts[name]) for name in ("train", "files"))
    assert train[-1:] == held[-1:] == b"\0"
    assert train[:-1] + held[:-1] == book.read_bytes()
    assert held.startswith(b"line ")
    assert len(held) == pytest.approx(0.1 * book.stat().st_size, abs=100)
    assert isinstance(corpus.texts["train"], np.memmap)
    assert manifest.versions == {}


def test_tokens_are_the_text(book, tmp_path):
    build_own(tmp_path / "text", book, 0.1, TokenizerChoice("bpe", 300))
    corpus = Corpus.open(tmp_path / "text")
    tokenizer = corpus.tokenizer
    assert isinstance(tokenizer, PairTokenizer)
    assert tokenizer.size == 300
    text = b"".join(tokenizer.decode(corpus.texts[name].tolist()) for name in ("train", "files"))
    assert text == book.read_bytes()
    assert len(corpus.texts["train"]) < 0.9 * book.stat().st_size
    lengths = corpus.lengths
    for name in ("train", "files"):
        assert int(lengths[corpus.texts[name]].sum()) == corpus.manifest.splits[name]["bytes"]


def test_a_folder_is_read_without_what_is_no_text(tmp_path):
    folder = tmp_path / "texts"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt").write_text("".join(LINES[:200]))
    (folder / "below" / "b.md").write_text("".join(LINES[200:]))
    (folder / "copy.txt").write_text("".join(LINES[:200]))
    (folder / "image.png").write_bytes(b"\x89PNG\0\0\1")
    (folder / ".hidden").write_text("secret " * 100)
    manifest = build_own(tmp_path / "out", folder)
    assert (manifest.duplicates, manifest.not_text) == (1, 1)
    listed = (tmp_path / "out" / "files.csv").read_text()
    assert "below/b.md" in listed
    assert "hidden" not in listed


def test_shards_are_read_as_one_text_and_made_once(book, tmp_path, monkeypatch):
    whole = build_own(tmp_path / "whole", book)
    monkeypatch.setattr(parts, "PIECE", 4096)
    monkeypatch.setattr(pieces, "__defaults__", (4096,))
    out = tmp_path / "cut"
    written = []
    before = shards._Progress.write

    def stopped(self, file, *rest):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(file)
        return before(self, file, *rest)

    monkeypatch.setattr(shards._Progress, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        build_own(out, book)
    monkeypatch.setattr(
        shards._Progress,
        "write",
        lambda self, file, *rest: written.append(file) or before(self, file, *rest),
    )
    again = build_own(out, book)
    assert len(again.splits["train"]["shards"]) > 4
    assert len(written) == len(set(written))  # what was done was not done again
    assert again.digest == whole.digest
    assert not (out / shards.BEGUN).exists()
    text = Corpus.open(out).texts["train"]
    assert isinstance(text, Shards)
    one = Corpus.open(tmp_path / "whole").texts["train"]
    places = np.random.default_rng(0).integers(0, len(one), (7, 33))
    assert len(text) == len(one)
    assert (text[places] == one[places]).all()


def test_a_smaller_corpus_leaves_no_file_of_the_larger(book, tmp_path, monkeypatch):
    out = tmp_path / "text"
    monkeypatch.setattr(pieces, "__defaults__", (4096,))
    build_own(out, book, tokenizer=TokenizerChoice("bpe", 300))
    monkeypatch.setattr(pieces, "__defaults__", (1 << 20,))
    build_own(out, book)
    assert sorted(path.name for path in out.iterdir()) == [
        "files-000.bin", "files.csv", "manifest.json", "train-000.bin",
    ]  # fmt: skip


def test_a_long_line_is_cut_between_characters(tmp_path, monkeypatch):
    path = tmp_path / "one.txt"
    path.write_text("äöü€" * 5000, encoding="utf-8")
    monkeypatch.setattr(parts, "CHUNK", 1001)
    part = TextPart("train", "one.txt", path, 0, path.stat().st_size, "")
    assert b"".join(part.chunks()) == path.read_bytes()
    for chunk in part.chunks():
        chunk.decode()
    for piece in pieces([part], 3000):
        for one in piece:
            path.read_bytes()[one.start : one.end].decode()


def test_bits_of_tokens_are_by_bytes(book, tmp_path):
    build_own(tmp_path / "text", book, 0.3, TokenizerChoice("bpe", 300))
    corpus = Corpus.open(tmp_path / "text")
    from mst.config import GptShape

    model = SparseGpt(GptShape(1, 8, 2, 16, 320))
    with torch.no_grad():
        model.head.weight.zero_()
    text = corpus.texts["files"]
    found = bits_per_byte(model, text, 10**6, lengths=corpus.lengths)
    starts = np.linspace(0, len(text) - 17, (len(text) - 1) // 16).astype(int)
    targets = np.concatenate([text[s + 1 : s + 17] for s in starts])
    assert found == pytest.approx(
        len(targets) * np.log2(320) / corpus.lengths[targets].sum(), rel=1e-6
    )


def test_a_run_knows_its_tokenizer(book):
    pairs = ("mst", "data", "my.txt", "--tokenizer", "bpe", "--vocabulary")
    give(*pairs, 300, "-o", "text")
    give(*pairs, 310, "-o", "other")
    give("mst", "data", "my.txt", "--tokenizer", "text/tokenizer.json", "-o", "same")
    train = ("mst", "train", "--corpus", "text", *SMALL)
    give(*train, "--save-every", 10, "--evaluate-every", 6)
    for checkpoint in ("last", "best", "10"):
        (row,) = answer("mst", "evaluate", 1, "--corpus", "same", "--checkpoint", checkpoint)
        assert 0 < row["bits per byte"] < 10
    said = give("mst", "evaluate", 1, "--corpus", "other", code=2)
    assert re.search(r"its tokens are of tokenizer \w+, expected tokenizer \w+, by which", said)
    said = give("mst", "sample", 1, "--checkpoint", 11, code=2)
    assert "the run has kept last, best, 10, 20, 30" in said
    sample = ("mst", "sample", 1, "--length", 4)
    assert give(*sample, "--top-k", 1) == give(*sample, "--temperature", 0)
    said = give(*train, "--vocabulary", 260, code=2)
    assert "expected at least the 300 tokens" in said


def test_a_file_of_settings_goes_in_and_the_resolved_one_is_the_run(book):
    give("mst", "data", "my.txt", "-o", "text")
    Path("mine.yaml").write_text("layers: 1\nlr-law: cosine\nfaithful: true\nseed: 13\nlr: 0.01\n")
    words = ("mst", "train", "--corpus", "text", *SMALL, "--lr", 0.02)
    (row,) = answer(*words, "--config", "mine.yaml")
    assert "lr_law cosine" in row["name"]
    assert "lr 0.02" in row["name"]  # the command line goes before
    assert row["name"].endswith("seed 13")
    (resolved,) = Path("mst-runs.db.files").glob("*/config.yaml")
    assert answer("mst", "train", "--config", resolved) == [row]


def test_a_loss_that_is_no_number_keeps_the_last_good_model(book, monkeypatch):
    from mst.trainer import Pretrainer

    give("mst", "data", "my.txt", "-o", "text")
    before = Pretrainer.step

    def broken(self):
        if self.done == 20:
            with torch.no_grad():
                self.model.positions.fill_(torch.inf)
        before(self)

    monkeypatch.setattr(Pretrainer, "step", broken)
    train = ("mst", "train", "--corpus", "text")
    said = give(*train, *SMALL, "--evaluate-every", 6, code=1)
    assert re.search(
        r"update 20: the loss is nan.*rate .*density \d.*the model of update 18 is kept", said
    )
    assert give("mst", "sample", 1, "--length", 4).startswith("def ")
    words = (*train, "--repeat", "--window", 1, "--stride", 1, "--tokens", 65536)
    assert "split 'files' has" in give(*words, "--context", 2048, code=2)
    give("mst", "data", "my.txt", "-o", "text", "--held-out-share", 0.9)
    said = give(*words, "--context", 4096, code=2)
    assert "bytes to train on, expected 4096 at least" in said
