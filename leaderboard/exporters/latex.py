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

    The half-width is the larger of the two sides, since intervals need not be symmetric.
    """
    ranked = [task for task in track.tasks if not task.variant]
    several = len(ranked) > 1
    heads = [escape(task.label) for task in ranked] + (["Macro Avg."] if several else [])
    table = [[*_cells(row, [t.name for t in ranked], several)] for row in track.rows]
    marked = [_marked([line[column] for line in table]) for column in range(2 * len(heads))]
    lines = [
        rf"\begin{{tabular}}{{l{'cc' * len(heads)}}}",
        r"\toprule",
        "Model & " + " & ".join(rf"\multicolumn{{2}}{{c}}{{{head}}}" for head in heads) + r" \\",
        " & " + " & ".join(["Hits@1 & MRR"] * len(heads)) + r" \\",
        r"\midrule",
    ]
    for place, row in enumerate(track.rows):
        cells = " & ".join(column[place] for column in marked)
        lines.append(f"{escape(row.label)} & {cells}" + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """Text with every character that LaTeX would act on made plain."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _cells(row: Row, tasks: list[str], several: bool) -> list[Estimate | None]:
    found: list[Estimate | None] = []
    for task in tasks:
        cell = row.cells.get(task)
        found += [cell.hits1, cell.mrr] if cell else [None, None]
    return [*found, row.hits1, row.mrr] if several else found


def _marked(column: list[Estimate | None]) -> list[str]:
    shown = [None if one is None else round(100 * one.value, 1) for one in column]
    order = sorted({value for value in shown if value is not None}, reverse=True)
    texts = []
    for one, value in zip(column, shown, strict=True):
        if one is None or value is None:
            texts.append("--")
            continue
        half = 100 * max(one.high - one.value, one.value - one.low)
        text = f"{value:.1f}"
        if value == order[0]:
            text = rf"\textbf{{{text}}}"
        elif value == order[1]:
            text = rf"\textit{{{text}}}"
        texts.append(rf"{text} $\pm$ {half:.1f}")
    return texts
