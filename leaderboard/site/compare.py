"""The page that shows two entries on the items where they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from leaderboard.answers import texts_of
from leaderboard.comparison import disagreements, duels
from leaderboard.entries import Entry, current_entries
from leaderboard.records import Board, Row, TrackBoard
from leaderboard.scoring import value
from leaderboard.site.links import Links
from leaderboard.site.render import render
from leaderboard.site.view import Texts
from leaderboard.site.views import VIEWS
from leaderboard.store import Store

# A page that opens from disk holds the answers of all its entries: so many, best first.
STATIC_ENTRIES = 12


def compare_page(
    store: Store,
    board: Board,
    links: Links,
    track: TrackBoard,
    task: str,
    *,
    pair: tuple[str, str] | None = None,
    note: str = "",
) -> str:
    """The page for one task.

    pair : entry ids to compare, on a server, which then sends only what these two need; ids that
    the task does not have give the first two. None holds several entries to choose from.
    note : what else stands above the comparison.
    """
    rows = [row for row in track.rows if task in row.cells]
    chosen = _chosen(rows, pair) if pair is not None else rows[:STATIC_ENTRIES]
    by_id = {entry.id: entry for entry in current_entries(store)}
    entries = [by_id[row.entry] for row in chosen]
    scores = [store.scores(row.cells[task].submission, task) for row in chosen]
    gold = store.gold(task)
    view, measures = VIEWS[gold.kind.name], gold.kind.measures
    if pair is not None and len(chosen) == 2:
        places = disagreements(measures, *scores)
    else:
        places = list(range(len(gold)))
    texts = _texts(store, chosen, task)
    data = {
        "server": pair is not None,
        "kind": gold.kind.name,
        "items": [view.block(links, gold, place, texts) for place in places],
        "answers": {
            row.entry: {
                "first": [value(found[place], measures[0].name) for place in places],
                "second": [round(value(found[place], measures[1].name), 4) for place in places],
                "told": [view.answer(found[place]) for place in places],
            }
            for row, found in zip(chosen, scores, strict=True)
        },
        "duels": _duels(store, task, entries, [by_id[row.entry] for row in rows]),
    }
    listed = rows if pair is not None else chosen
    return render(
        "compare.html",
        board,
        links,
        task=next(info for info in track.tasks if info.name == task),
        on_server=pair is not None,
        note=note,
        entries=[(row.entry, row.label) for row in listed],
        a=chosen[0].entry if chosen else "",
        b=chosen[1].entry if len(chosen) > 1 else "",
        data=data,
        script=script(),
    )


def script() -> str:
    """The script of the page."""
    return resources.files("leaderboard.site").joinpath("compare.js").read_text(encoding="utf-8")


def _chosen(rows: Sequence[Row], pair: tuple[str, str]) -> list[Row]:
    by_id = {row.entry: row for row in rows}
    named = [by_id[entry] for entry in pair if entry in by_id]
    if len(named) == 2:
        return named if pair[0] != pair[1] else named[:1]
    rest = [row for row in rows if row not in named]
    return [*named, *rest][:2]


def _duels(
    store: Store, task: str, entries: Sequence[Entry], everyone: Sequence[Entry]
) -> list[dict[str, Any]]:
    if len(entries) < 2:
        return []
    family = [*entries, *(one for one in everyone if one not in entries)]
    return [one.model_dump(mode="json") for one in duels(store, task, entries, family)]


def _texts(store: Store, rows: Sequence[Row], task: str) -> Texts:
    found = []
    for row in rows:
        if row.method != "direct":
            responses = store.responses(row.cells[task].submission, task)
            found.append((row.label, {item: texts_of(r) for item, r in responses.items()}))
    return found
