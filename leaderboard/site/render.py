"""Records in, HTML out. Everything is escaped by Jinja2; nothing here reads or writes files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from leaderboard.gold import Gold
from leaderboard.published import published
from leaderboard.records import Board, TaskInfo
from leaderboard.scoring import BoardScore
from leaderboard.site import formats
from leaderboard.site.links import Links
from sage_tasks.records import Query

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class ItemAnswer:
    """One entry's score on one item, as a row of the item page."""

    entry: str
    label: str
    score: BoardScore
    texts: Sequence[tuple[str, str]] = ()


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The Jinja2 environment of all pages."""
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.PackageLoader("leaderboard.site"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(
        percent=formats.percent,
        limits=formats.limits,
        signed=formats.signed,
        limits_signed=formats.limits_signed,
        p=formats.p_value,
        rank=formats.rank,
        count=formats.count,
        score=formats.score,
    )
    return env


def render(template: str, board: Board, links: Links, **values: Any) -> str:
    """One page. ``values`` are the template's own variables."""
    tasks = [task for track in board.tracks for task in track.tasks]
    return (
        environment()
        .get_template(template)
        .render(
            board=board,
            links=links,
            title=board.title,
            commit=board.commit,
            seed=board.seed,
            tasks=[(task.name, task.label) for task in tasks],
            builds=[(task.name, task.label, task.dataset) for task in tasks],
            **values,
        )
    )


def index_page(board: Board, links: Links) -> str:
    """The page with every table."""
    tables = [table for paper in published() for table in paper.tables if table.main]
    return render("index.html", board, links, printed_tables=tables)


def published_page(board: Board, links: Links) -> str:
    """The page with the papers' figures."""
    return render("published.html", board, links, papers=published())


def item_page(
    board: Board, links: Links, info: TaskInfo, gold: Gold, item: str, answers: Sequence[ItemAnswer]
) -> str:
    """The page of one item: its ten pictures, the gold, what every entry chose.

    Raises KeyError when the task has no such item.
    """
    place = gold.row[item]
    query = gold.queries[place]
    return render(
        "item.html",
        board,
        links,
        task=info,
        query=query,
        answers=answers,
        chosen=choosers(query, answers),
        credits=[gold.package.images[picture] for picture in query.candidates],
        before=gold.queries[place - 1].id if place else "",
        after=gold.queries[place + 1].id if place + 1 < len(gold.queries) else "",
    )


def task_page(
    board: Board, links: Links, info: TaskInfo, gold: Gold, right: Sequence[float], entries: int
) -> str:
    """The list of a task's items, hardest first.

    right : per item, in gold order, how many of the ``entries`` put the gold first.
    """
    rows = [
        {"id": query.id, "term": query.term, "context": query.context, "right": number}
        for query, number in zip(gold.queries, right, strict=True)
    ]
    rows.sort(key=lambda row: (row["right"], row["term"]))
    return render("task.html", board, links, task=info, items=rows, models=entries)


def choosers(query: Query, answers: Sequence[ItemAnswer]) -> list[list[str]]:
    """Per candidate, the labels of the entries that put it first."""
    return [
        [answer.label for answer in answers if answer.score.choice == place]
        for place in range(len(query.candidates))
    ]
