"""Look at the pages that commands write, and at the site, as a browser shows them.

    python -m tests.look.pages [--site docs/_build/html] [--pictures FOLDER]

Says "not run" where there is no Chromium.
"""

import argparse
import base64
import json
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.look.browser import Browser, chromium, opened

NARROW, WIDE = 500, 1400
"""Widths of windows [px]."""
MAPPER = (sys.executable, "-m", "mapper")
EXPLORED = (
    *("explore", "--network", "mlp", "--pes", "16..64", "--noc", "16..128", "--workers", "1"),
    *("--timeout", "0", "--page", "front.html"),
)
SEARCHED = ("search", "--network", "mlp", "--budget", "60", "--out", "out")
STORED = "document.getElementById('data').textContent"
SHOWN = "[...document.querySelectorAll('tbody tr')].map(row => row.innerText)"


def made(folder: Path) -> dict[str, Path]:
    """The pages of small runs, by name."""
    for words in (EXPLORED, SEARCHED, ("report", "out")):
        subprocess.run([*MAPPER, *words], cwd=folder, check=True, capture_output=True)
    others = {path.stem: path for path in sorted((folder / "out").rglob("*.html"))}
    return {"front": folder / "front.html", **others}


def touches_a_point(browser: Browser, page: Path) -> None:
    """The nest of a touched point is shown, and is the point's."""
    browser.open(page, WIDE)
    data = json.loads(browser.ask(STORED))
    at = data["front"] - 1
    browser.click(f'circle[data-row="{at}"]')
    wait(browser, "document.querySelector('#design pre') !== null")
    check_nests(browser, data, at)


def goes_by_keys(browser: Browser, page: Path) -> None:
    """Tab, an arrow and Enter reach a point's nest without a mouse."""
    browser.open(page, WIDE)
    data = json.loads(browser.ask(STORED))
    for _ in range(200):
        browser.press("Tab")
        if browser.ask("document.activeElement.tagName") == "circle":
            break
    first = browser.ask("+document.activeElement.dataset.row")
    browser.press("ArrowRight")
    if browser.ask("+document.activeElement.dataset.row") == first:
        browser.press("ArrowLeft")
    at = browser.ask("+document.activeElement.dataset.row")
    assert at != first, "an arrow key stays where it was"
    browser.press("Enter")
    wait(browser, "document.querySelector('#design h2') !== null")
    if at < data["front"]:
        wait(browser, "document.querySelector('#design pre') !== null")
        check_nests(browser, data, at)


def check_nests(browser: Browser, data: dict[str, Any], at: int) -> None:
    """The page shows the loop nests that it keeps of a row."""
    kept = json.loads(zlib.decompress(base64.b64decode(data["nests"])))
    shown = browser.ask("[...document.querySelectorAll('#design pre')].map(p => p.textContent)")
    assert shown == [kept["texts"][text] for _, text in kept["of"][at]]
    assert "for " in shown[0]
    assert browser.ask("document.querySelector('#design h2').textContent") == data["rows"][at][0]


def sorts_and_filters(browser: Browser, page: Path) -> None:
    """Headings sort, both ways; words, a field and the front alone choose."""
    browser.open(page, WIDE)
    data = json.loads(browser.ask(STORED))
    areas = f"{SHOWN}.length"
    browser.ask("document.getElementById('front').click()")
    assert browser.ask(areas) == len(data["rows"])
    column = data["names"].index("area") + 2
    sizes = sorted(row[4][column - 2] for row in data["rows"])
    for ends in (sizes, sizes[::-1]):
        browser.click(f"thead th:nth-child({column}) button")
        top = browser.ask("document.querySelector('tbody tr td button').textContent")
        name = top.split(": ", 1)[-1]
        assert any(row[0] == name and row[4][column - 2] == ends[0] for row in data["rows"])
    browser.ask("(box => { box.value = '16 pes'; box.dispatchEvent(new Event('input')); })"
                "(document.getElementById('words'))")  # fmt: skip
    named = browser.ask(SHOWN)
    assert named
    assert all("16 PEs" in text for text in named)
    browser.ask("(box => { box.selectedIndex = 1; box.dispatchEvent(new Event('input')); })"
                "(document.querySelectorAll('#fields select')[1])")  # fmt: skip
    assert 0 < browser.ask(areas) < len(named)


def prints_without_colours(browser: Browser, page: Path, folder: Path) -> None:
    """In print no pixel has a colour."""
    from PIL import Image

    browser.open(page, WIDE)
    browser("Emulation.setEmulatedMedia", media="print")
    picture = folder / "print.png"
    browser.picture(picture)
    browser("Emulation.setEmulatedMedia", media="")
    with Image.open(picture) as image:
        colours = image.convert("RGB").getcolors(1 << 24) or []
    assert len(colours) > 2
    assert max(max(rgb) - min(rgb) for _, rgb in colours) <= 24, "a colour in print"


def needs_no_other_file(page: Path) -> None:
    """A page names no outside address that a browser would fetch."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//)", text)
    assert "@import" not in text
    assert "fetch(" not in text


def fits(browser: Browser, page: Path) -> None:
    """A page is no wider than a narrow window."""
    browser.open(page, NARROW)
    wide = browser.ask("document.documentElement.scrollWidth")
    assert wide <= NARROW, f"{page.name}: {wide} px wide in a window of {NARROW}"


def wait(browser: Browser, script: str) -> None:
    """Wait until an expression is true, at most some seconds."""
    found = browser.ask(
        f"new Promise(done => {{ let n = 0; const look = () => ({script}) ? done(true) "
        ": ++n > 100 ? done(false) : setTimeout(look, 50); look(); })"
    )
    assert found, script


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=Path("docs/_build/html"))
    parser.add_argument("--pictures", type=Path, help="keep screenshots here")
    args = parser.parse_args()
    program = chromium()
    if program is None:
        print("not run: there is no Chromium here (Debian: apt-get install chromium)")
        return
    failed = 0
    with tempfile.TemporaryDirectory() as name, opened(program) as browser:
        folder = Path(name)
        pages = made(folder)
        site = sorted(args.site.rglob("*.html")) if args.site.is_dir() else []
        front = pages["front"]
        looks: list[tuple[str, Callable[[], None]]] = [
            ("a point is touched", lambda: touches_a_point(browser, front)),
            ("a point is reached by keys", lambda: goes_by_keys(browser, front)),
            ("designs are sorted and filtered", lambda: sorts_and_filters(browser, front)),
            ("no colour in print", lambda: prints_without_colours(browser, front, folder)),
            ("no other file", lambda: [needs_no_other_file(p) for p in pages.values()] and None),
        ]
        looks += [
            (f"{page.relative_to(at)} at {NARROW} px", lambda page=page: fits(browser, page))
            for at, some in ((folder, pages.values()), (args.site, site))
            for page in some
        ]
        for what, look in looks:
            try:
                look()
            except AssertionError as error:
                failed += 1
                print(f"FAILED {what}: {error}")
        if args.pictures is not None:
            take(browser, args.pictures, [*pages.values(), *site])
    print(f"{len(looks) - failed} of {len(looks)} looks hold" + ("" if site else "; no site built"))
    sys.exit(1 if failed else 0)


def take(browser: Browser, folder: Path, pages: list[Path]) -> None:
    """Keep pictures of pages in both widths."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for width in (NARROW, WIDE):
            browser.open(page, width)
            browser.picture(folder / f"{page.stem}-{width}.png")


if __name__ == "__main__":
    main()
