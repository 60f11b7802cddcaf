"""A LaTeX table in the manner of SAGE's Table 2: estimates with half-widths, needs booktabs."""

from __future__ import annotations

from pathlib import Path

from leaderboard.files import write_atomic
from leaderboard.records import Board, Estimate, Row, TrackBoard
from leaderboard.store import Store

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def write_latex(store: Store, board: Board, out: Path) -> list[Path]:
    """One file with a table per track."""
    text = "\n".join(latex_table(track) for track in board.tracks)
    write_atomic(out, text.encode())
    return [out]


def latex_table(track: TrackBoard) -> str:
    """One track. Best per column bold, second best italic, as the paper has it.

    An interval with equal sides is a half-width; any other is printed with both of its sides, so
    that none reaches below 0 or above 100.
    """
    tasks = [(task.name, escape(task.label)) for task in track.ranked]
    heads = [head for _, head in tasks] + (["Macro Avg."] if len(tasks) > 1 else [])
    measures = [measure.name for measure in track.measures]
    labels = " & ".join(escape(measure.label) for measure in track.measures)
    table = [_cells(row, [name for name, _ in tasks], measures) for row in track.rows]
    width = len(measures)
    marked = [_marked([line[column] for line in table]) for column in range(width * len(heads))]
    lines = [
        rf"\begin{{tabular}}{{l{'c' * width * len(heads)}}}",
        r"\toprule",
        "Model & " + " & ".join(rf"\multicolumn{{{width}}}{{c}}{{{h}}}" for h in heads) + r" \\",
        " & " + " & ".join([labels] * len(heads)) + r" \\",
        r"\midrule",
    ]
    for place, row in enumerate(track.rows):
        cells = " & ".join(column[place] for column in marked)
        name = "; ".join([row.label, *row.told])
        lines.append(f"{escape(name)} & {cells}" + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """Text with every character that LaTeX would act on made plain."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _cells(row: Row, tasks: list[str], measures: list[str]) -> list[Estimate | None]:
    parts = [row.cells[task].scores if task in row.cells else {} for task in tasks]
    parts += [row.scores] if len(tasks) > 1 else []
    return [part.get(measure) for part in parts for measure in measures]


def _marked(column: list[Estimate | None]) -> list[str]:
    shown = [None if one is None else round(100 * one.value, 1) for one in column]
    order = sorted({value for value in shown if value is not None}, reverse=True)
    texts = []
    for one, value in zip(column, shown, strict=True):
        if one is None or value is None:
            texts.append("--")
            continue
        text = f"{value:.1f}"
        if value == order[0]:
            text = rf"\textbf{{{text}}}"
        elif value == order[1]:
            text = rf"\textit{{{text}}}"
        texts.append(f"{text} {_sides(one, value)}")
    return texts


def _sides(one: Estimate, shown: float) -> str:
    """Distances to the printed limits: what is added to the printed score gives just these."""
    below = round(shown - round(100 * one.low, 1), 1)
    above = round(round(100 * one.high, 1) - shown, 1)
    if below == above:
        return rf"$\pm$ {above:.1f}"
    return rf"$^{{+{above:.1f}}}_{{-{below:.1f}}}$"
