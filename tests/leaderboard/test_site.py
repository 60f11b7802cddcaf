"""The static site: complete, self-contained, opens from disk."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leaderboard.kinds.ranking_score import RankingScore
from leaderboard.site.export import export_site
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from tests.leaderboard.browser import CHROMIUM, Browser


class Links(HTMLParser):
    """Every address that a page names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src", "srcset")]


@pytest.fixture
def site(bench: Bench) -> Path:
    for name, accuracy in (("good", 0.9), ("bad", 0.2)):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    return export_site(bench.store, bench.root / "site").parent


def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) == 4 + 2 + 24 + 12 + 2
    for page in pages:
        links = Links(page.read_text(encoding="utf-8")).found
        assert links
        for link in links:
            assert not re.match(r"[a-z]+:|/", link), f"{page}: {link} leaves the site"
            target = (page.parent / (link.partition("#")[0] or page.name)).resolve()
            assert target.is_file(), f"{page}: {link} leads nowhere"


def test_item_page_has_the_ten_pictures_in_order_and_marks_the_gold(
    bench: Bench, site: Path
) -> None:
    query = bench.packages["tiny"].queries[3]
    page = site / "tasks" / "tiny" / f"{query.id}.html"
    text = page.read_text(encoding="utf-8")
    places = re.findall(r'<li (class="gold")?>.*?src="([^"]+)"', text, re.DOTALL)
    digests = [
        hashlib.sha256((page.parent / source).resolve().read_bytes()).hexdigest()
        for _, source in places
    ]
    assert digests == list(query.candidates)
    assert [bool(marked) for marked, _ in places] == [i == query.gold for i in range(10)]


def test_item_page_shows_each_models_choice(bench: Bench, site: Path) -> None:
    from leaderboard.board import build_board

    (track,) = build_board(bench.store).tracks
    query = bench.packages["tiny"].queries[3]
    text = (site / "tasks" / "tiny" / f"{query.id}.html").read_text(encoding="utf-8")
    for row in track.rows:
        scores = bench.store.scores(row.cells["tiny"].submission, "tiny")
        score = next(score for score in scores if score.item == query.id)
        assert isinstance(score, RankingScore)
        choice = score.choice
        assert choice is not None
        right = "right" if choice == query.gold else "wrong"
        assert re.search(rf"{row.label}</th>\s*<td>.*?{choice + 1}, {right}", text, re.DOTALL)


def test_table_shows_what_the_board_has(bench: Bench, site: Path) -> None:
    from leaderboard.board import build_board

    text = (site / "index.html").read_text(encoding="utf-8")
    for row in build_board(bench.store).tracks[0].rows:
        assert row.scores
        assert f"{100 * row.scores['hits1'].value:.1f}<small>" in text
        assert (
            f"{100 * row.scores['hits1'].low:.1f} to {100 * row.scores['hits1'].high:.1f}" in text
        )


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_opens_from_disk(site: Path, bench: Bench, width: int) -> None:
    item = bench.packages["tiny"].queries[0].id
    with Browser(width) as browser:
        for page in ("index.html", "about.html", f"tasks/tiny/{item}.html"):
            browser.open((site / page).as_uri())
            wide = browser.run("document.documentElement.scrollWidth")
            assert wide <= width, f"{page} is {wide} px wide"
            broken = "Array.from(document.images).filter(i => i.complete && !i.naturalWidth).length"
            assert browser.run(broken) == 0
        assert all(url.startswith(("file:", "data:", "about:")) for url in browser.requests)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_name_moves_nothing_off_the_screen(bench: Bench, width: int) -> None:
    long = "m" * 115
    for name in ("good", long, "gone"):
        args = f"pretrained=org/{'g' * 115 if name == 'gone' else name}"
        run = bench.run(name, accuracy=0.6, model_args=args)
        (receipt,) = submit(run, str(bench.board))
        if name == "gone":
            bench.store.decide(receipt.submission, "withdrawn", "wrong prompt")
    site = export_site(bench.store, bench.root / "site").parent
    item = bench.packages["tiny"].queries[0].id
    with Browser(width) as browser:
        for page in ("index.html", "signs.html", f"tasks/tiny/{item}.html"):
            browser.open((site / page).as_uri())
            assert browser.run("document.documentElement.scrollWidth") <= width, page
        browser.open((site / "index.html").as_uri())
        wider = "Array.from(document.querySelectorAll('.scroll')).map(s => s.scrollWidth - "
        assert max(browser.run(wider + "s.clientWidth)")) <= 0
