"""Figures of the Gradio page; each is one function and one line in ``FIGURES``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaderboard.records import Estimate, TrackBoard
from leaderboard.site.formats import rank

# The eye compares lengths only within one screen; more rows than this make a plot unreadable.
PLOTTED_ROWS = 60
COLOUR = "#2f7fd1"
GREY = "#7a858f"
# Told apart with any colour vision (Okabe and Ito); more entries than these make a plot unreadable.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def forest(track: TrackBoard) -> Any:
    """The first measure of every complete row with its interval, best on top."""
    name = track.first.name
    pairs = [(row, row.scores[name]) for row in track.rows if row.scores][:PLOTTED_ROWS]
    points = [point for _, point in pairs]
    figure = _figure(
        _points(
            [100 * point.value for point in points],
            [f"{rank(row.rank)}  {row.label}" for row, _ in pairs],
            x_bars=points,
            hover="%{y}<br>%{x:.1f}%<extra></extra>",
        ),
        f"{track.first.label}, %",
        "",
        height=120 + 28 * len(pairs),
    )
    if track.chance is not None:
        figure.add_vline(
            x=100 * track.chance, line_dash="dot", line_color="#888", annotation_text="guessing"
        )
    figure.update_xaxes(range=[0, 100])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure


def cost(track: TrackBoard) -> Any:
    """The first measure against what the run cost, for rows that say so; logarithmic axis."""
    rows = [row for row in track.rows if row.scores and row.cost]
    if not rows:
        return _nothing("No entry of this track says what its run cost.")
    points = [row.scores[track.first.name] for row in rows]
    figure = _figure(
        _points(
            [row.cost for row in rows],
            [100 * point.value for point in points],
            y_bars=points,
            text=[row.label for row in rows],
            hover="%{text}<br>$%{x:.2f}, %{y:.1f}%<extra></extra>",
        ),
        "Cost of the run, $",
        f"{track.first.label}, %",
    )
    figure.update_xaxes(type="log")
    return figure


def subsets(track: TrackBoard) -> Any:
    """One task against another: entries off the line are better at one of the two."""
    names = track.ranked
    if len(names) < 2:
        names = track.tasks
    if len(names) < 2:
        return _nothing("This track has one task only.")
    first, second = names[0], names[1]
    rows = [row for row in track.rows if first.name in row.cells and second.name in row.cells]
    x = [row.cells[first.name].scores[track.first.name] for row in rows]
    y = [row.cells[second.name].scores[track.first.name] for row in rows]
    figure = _figure(
        _points(
            [100 * point.value for point in x],
            [100 * point.value for point in y],
            x_bars=x,
            y_bars=y,
            text=[row.label for row in rows],
            hover="%{text}<br>%{x:.1f}%, %{y:.1f}%<extra></extra>",
        ),
        f"{first.label}, {track.first.label}, %",
        f"{second.label}, {track.first.label}, %",
    )
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, line={"color": "#888", "dash": "dot"})
    return figure


def slopes(track: TrackBoard) -> Any:
    """What a variant does to each entry: a line from the one task to the other."""
    import plotly.graph_objects as go

    if not track.deltas:
        return _nothing("This track has no pair of variants.")
    label = track.deltas[0]
    base, variant = track.pairs[label]
    figure = go.Figure()
    for row in [row for row in track.rows if label in row.deltas][:PLOTTED_ROWS]:
        ends = [row.cells[name].scores[track.first.name] for name in (base, variant)]
        figure.add_scatter(
            x=[0, 1],
            y=[100 * end.value for end in ends],
            error_y=_bars(ends),
            mode="lines+markers",
            name=row.label,
            text=[row.label] * 2,
            hovertemplate="%{text}<br>%{y:.1f}%<extra></extra>",
        )
    _style(figure, "", f"{track.first.label}, %", 460)
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.15})
    names = {task.name: task.label for task in track.tasks}
    figure.update_xaxes(tickvals=[0, 1], ticktext=[names[base], names[variant]], range=[-0.2, 1.2])
    return figure


def parts(track: TrackBoard) -> Any:
    """The first measure of the first rows on every part of the track's task, a panel per family."""
    from plotly.subplots import make_subplots

    task = track.tasks[0].name if track.tasks else ""
    rows = [row for row in track.rows if task in row.cells and row.cells[task].groups]
    if not rows:
        return _nothing("The tasks of this track have no parts with numbers of their own.")
    families = list(dict.fromkeys(group.family for group in rows[0].cells[task].groups))
    figure = make_subplots(
        rows=len(families), cols=1, subplot_titles=[f"By {family}" for family in families]
    )
    for number, row in enumerate(rows[: len(COLOURS)]):
        for place, family in enumerate(families, 1):
            groups = [group for group in row.cells[task].groups if group.family == family]
            points = [group.scores[track.first.name] for group in groups]
            figure.add_scatter(
                x=[f"{group.group} ({group.items})" for group in groups],
                y=[100 * point.value for point in points],
                error_y=_bars(points),
                mode="markers",
                marker={"size": 8, "color": COLOURS[number]},
                name=row.label,
                legendgroup=row.entry,
                showlegend=place == 1,
                text=[row.label] * len(points),
                hovertemplate="%{text}<br>%{x}: %{y:.1f}%<extra></extra>",
                row=place,
                col=1,
            )
    _style(figure, "", "", 120 + 260 * len(families))
    grid = {"gridcolor": "rgba(128,128,128,0.2)", "zeroline": False}
    # a point at the edge must be seen whole
    figure.update_yaxes(range=[-4, 104], title=f"{track.first.label}, %", **grid)
    figure.update_xaxes(**grid)
    figure.update_layout(
        margin={"t": 70},
        showlegend=True,
        legend={"orientation": "h", "y": -0.06},
        scattermode="group",
    )
    return figure


FIGURES: Mapping[str, Callable[[TrackBoard], Any]] = {
    "Intervals": forest,
    "Cost": cost,
    "Task against task": subsets,
    "Variants": slopes,
    "Strength, size, kind": parts,
}


def _points(
    x: Sequence[Any],
    y: Sequence[Any],
    *,
    hover: str,
    x_bars: Sequence[Estimate] = (),
    y_bars: Sequence[Estimate] = (),
    text: Sequence[str] = (),
) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(
        x=list(x),
        y=list(y),
        error_x=_bars(x_bars) if x_bars else None,
        error_y=_bars(y_bars) if y_bars else None,
        text=list(text) or None,
        mode="markers",
        marker={"size": 8, "color": COLOUR},
        hovertemplate=hover,
    )


def _bars(points: Sequence[Estimate]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [100 * (point.high - point.value) for point in points],
        "arrayminus": [100 * (point.value - point.low) for point in points],
        "thickness": 2,
        "width": 0,
    }


def _figure(trace: Any, x: str, y: str, *, height: int = 460) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure(trace)
    _style(figure, x, y, height)
    return figure


def _style(figure: Any, x: str, y: str, height: int) -> None:
    grid = "rgba(128,128,128,0.2)"
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 20, "t": 30, "b": 40},
        xaxis={"title": x, "gridcolor": grid, "zeroline": False},
        yaxis={"title": y, "gridcolor": grid, "zeroline": False},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": GREY, "family": "system-ui, sans-serif"},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GREY},
        showlegend=False,
    )


def _nothing(why: str) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    _style(figure, "", "", 200)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(text=why, showarrow=False, font={"size": 15})
    return figure
