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
CHANCE = 10.0


def forest(track: TrackBoard) -> Any:
    """Hits@1 of every complete row with its interval, best on top."""
    pairs = [(row, row.hits1) for row in track.rows if row.hits1][:PLOTTED_ROWS]
    points = [point for _, point in pairs]
    figure = _figure(
        _points(
            [100 * point.value for point in points],
            [f"{rank(row.rank)}  {row.label}" for row, _ in pairs],
            x_bars=points,
            hover="%{y}<br>%{x:.1f}%<extra></extra>",
        ),
        "Hits@1, %",
        "",
        height=120 + 28 * len(pairs),
    )
    figure.add_vline(x=CHANCE, line_dash="dot", line_color="#888", annotation_text="guessing")
    figure.update_xaxes(range=[0, 100])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure


def cost(track: TrackBoard) -> Any:
    """Hits@1 against what the run cost, for rows that say so; costs on a logarithmic axis."""
    rows = [row for row in track.rows if row.hits1 and row.cost]
    if not rows:
        return _nothing("No entry of this track says what its run cost.")
    points = [row.hits1 for row in rows if row.hits1]
    figure = _figure(
        _points(
            [row.cost for row in rows],
            [100 * point.value for point in points],
            y_bars=points,
            text=[row.label for row in rows],
            hover="%{text}<br>$%{x:.2f}, %{y:.1f}%<extra></extra>",
        ),
        "Cost of the run, $",
        "Hits@1, %",
    )
    figure.update_xaxes(type="log")
    return figure


def subsets(track: TrackBoard) -> Any:
    """One task against another: entries off the line are better at one of the two."""
    names = [task for task in track.tasks if not task.variant] or track.tasks
    if len(names) < 2:
        names = track.tasks
    if len(names) < 2:
        return _nothing("This track has one task only.")
    first, second = names[0], names[1]
    rows = [row for row in track.rows if first.name in row.cells and second.name in row.cells]
    x = [row.cells[first.name].hits1 for row in rows]
    y = [row.cells[second.name].hits1 for row in rows]
    figure = _figure(
        _points(
            [100 * point.value for point in x],
            [100 * point.value for point in y],
            x_bars=x,
            y_bars=y,
            text=[row.label for row in rows],
            hover="%{text}<br>%{x:.1f}%, %{y:.1f}%<extra></extra>",
        ),
        f"{first.label}, Hits@1, %",
        f"{second.label}, Hits@1, %",
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
        ends = [row.cells[base].hits1, row.cells[variant].hits1]
        figure.add_scatter(
            x=[0, 1],
            y=[100 * end.value for end in ends],
            error_y=_bars(ends),
            mode="lines+markers",
            name=row.label,
            text=[row.label] * 2,
            hovertemplate="%{text}<br>%{y:.1f}%<extra></extra>",
        )
    _style(figure, "", "Hits@1, %", 460)
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.15})
    names = {task.name: task.label for task in track.tasks}
    figure.update_xaxes(tickvals=[0, 1], ticktext=[names[base], names[variant]], range=[-0.2, 1.2])
    return figure


FIGURES: Mapping[str, Callable[[TrackBoard], Any]] = {
    "Intervals": forest,
    "Cost": cost,
    "Task against task": subsets,
    "Variants": slopes,
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
