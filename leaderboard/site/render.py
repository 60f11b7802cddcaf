"""Records in, HTML out. Everything is escaped by Jinja2; nothing here reads or writes files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from leaderboard.gold import Gold
from leaderboard.published import PublishedTable, published
from leaderboard.records import Board, TaskInfo, TrackBoard
from leaderboard.site import formats
from leaderboard.site.links import Links
from leaderboard.site.views import VIEWS, ItemAnswer

if TYPE_CHECKING:
    from jinja2 import Environment


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
        counted=formats.counted,
        score=formats.score,
        utc=formats.utc,
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
    shown = {track.name: VIEWS[track.tasks[0].kind].lead for track in board.tracks if track.tasks}
    printed = {track.name: printed_beside(track) for track in board.tracks}
    return render("index.html", board, links, leads=shown, printed_tables=printed)


def printed_beside(track: TrackBoard) -> list[PublishedTable]:
    """Main tables of the papers that belong to a track, with the rows of its group."""
    tables = [table for paper in published() for table in paper.tables]
    return [
        table.of_group(track.printed_group)
        for table in tables
        if table.main and table.track == track.printed
    ]


def published_page(board: Board, links: Links) -> str:
    """The page with the papers' figures."""
    return render("published.html", board, links, papers=published())


def item_page(
    board: Board, links: Links, info: TaskInfo, gold: Gold, item: str, answers: Sequence[ItemAnswer]
) -> str:
    """The page of one item: what was asked, the gold, what every entry answered.

    Raises KeyError when the task has no such item.
    """
    place, view = gold.row[item], VIEWS[gold.kind.name]
    return render(
        view.template,
        board,
        links,
        task=info,
        answers=answers,
        before=gold.summaries[place - 1].id if place else "",
        after=gold.summaries[place + 1].id if place + 1 < len(gold) else "",
        **view.page(gold, item, answers),
    )


def task_page(
    board: Board, links: Links, info: TaskInfo, gold: Gold, right: Sequence[float], entries: int
) -> str:
    """The list of a task's items, hardest first.

    right : per item, in gold order, how many of the ``entries`` are right by the first measure.
    """
    rows = [
        {"id": one.id, "term": one.term, "context": one.context, "right": number}
        for one, number in zip(gold.summaries, right, strict=True)
    ]
    rows.sort(key=lambda row: (row["right"], row["term"]))
    return render("task.html", board, links, task=info, kind=gold.kind, items=rows, models=entries)


def parts_page(board: Board, links: Links, track: TrackBoard, info: TaskInfo) -> str:
    """Every entry on every part of a task: strength, size of the feature, sampling kind."""
    rows = [(row, row.cells[info.name].groups) for row in track.rows if info.name in row.cells]
    return render("parts_of.html", board, links, task=info, track=track, rows=rows)
