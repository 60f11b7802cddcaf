"""The Gradio page: a thin view over frames that are computed when the board changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from leaderboard.records import TrackBoard
from leaderboard.server.figures import FIGURES
from leaderboard.server.frames import (
    ORDERS,
    columns_of,
    frame_of,
    matching,
    orders_of,
    table_of,
)
from leaderboard.server.service import Service

CSS = """
.gradio-container, .gradio-container main { width: 100%; min-width: 0; }
.gradio-container { max-width: 1180px !important; margin: 0 auto !important; }
.gradio-container .tabs, .gradio-container .tabitem, .gradio-container .column,
.gradio-container .block { min-width: 0 !important; max-width: 100%; }
footer { display: none !important; }
.board-table, .board-table * { font-family: inherit !important; }
.board-table td, .board-table th { font-variant-numeric: tabular-nums; }
.board-table th, .board-table th * { white-space: nowrap !important; }
@media (max-width: 640px) { .filters, .filters > * { flex-direction: column !important; } }
.board-table .table-wrap { border-radius: 8px; }
.count, .count * { opacity: 1 !important; transition: none !important; }
"""

# Keeps the filters in the address, so that a link shows the same table. In the page's head because
# Gradio evaluates the scripts of events, which the content security policy forbids.
HEAD = """<script>
new MutationObserver(() => {
  const state = document.querySelector('#address');
  const query = state ? state.textContent.trim() : '';
  if (query.includes('=') && '?' + query !== location.search)
    history.replaceState(null, '', '?' + query);
}).observe(document, {subtree: true, childList: true, characterData: true});
</script>"""


# A browser takes a third of a second and more to draw a thousand rows anew.
ROWS = 100

_TOP = """# {title}
A rank such as 1\N{EN DASH}3 means that the data cannot tell these places apart.

[Items](/table) \N{MIDDLE DOT} [Compare two models](/compare) \N{MIDDLE DOT}
[Submit](/submit) \N{MIDDLE DOT} [Published figures](/published) \N{MIDDLE DOT}
[How to read this](/about)"""


def build_ui(service: Service) -> gr.Blocks:
    """The page with its tabs; every event reads ``service``, nothing is kept per visitor."""
    title = service.store.catalog.title
    with gr.Blocks(title=title, analytics_enabled=False) as blocks:
        gr.Markdown(_TOP.format(title=service.store.catalog.title))
        with gr.Tab("Table"):
            with gr.Row(elem_classes=["filters"]):
                track = gr.Dropdown(label="Track", choices=[], scale=1, min_width=140)
                order = gr.Dropdown(
                    label="Order", choices=list(ORDERS), value="rank", scale=1, min_width=140
                )
                search = gr.Textbox(
                    label="Search", placeholder="model, method, interface", scale=2, min_width=180
                )
            with gr.Accordion("Columns", open=False):
                shown = gr.CheckboxGroup(show_label=False, choices=[], value=[], container=False)
            table = gr.Dataframe(
                label="Entries",
                interactive=False,
                wrap=True,
                max_height=720,
                pinned_columns=2,
                elem_classes=["board-table"],
            )
            with gr.Row():
                count = gr.Markdown(elem_classes=["count"])
                everything = gr.Checkbox(
                    label=f"All entries, not only the first {ROWS}", container=False, visible=False
                )
            address = gr.Markdown(elem_id="address", visible="hidden")
        with gr.Tab("Plots") as plot_tab:
            kind = gr.Radio(list(FIGURES), value=next(iter(FIGURES)), label="Plot")
            plot = gr.Plot(show_label=False)

        def found(name: str | None) -> TrackBoard | None:
            tracks = service.board().tracks
            return next((t for t in tracks if t.name == name), tracks[0] if tracks else None)

        def update(
            name: str, text: str, how: str, columns: Sequence[str], whole: bool
        ) -> tuple[Any, ...]:
            one = found(name)
            if one is None:
                return None, "", ""
            return *shown_part(one, text, how, columns, whole=whole), _address(name, text, how)

        def start(request: gr.Request) -> tuple[Any, ...]:
            query = dict(request.query_params)
            one = found(query.get("track"))
            how = query.get("order", "rank")
            text = query.get("search", "")[:100]
            how = how if how in ORDERS else "rank"
            names = [(t.label, t.name) for t in service.board().tracks]
            if one is None:
                nothing = gr.Dropdown(choices=[]), text, how, gr.CheckboxGroup(choices=[])
                return *nothing, None, "", gr.Checkbox()
            columns = columns_of(one)
            return (
                gr.Dropdown(choices=names, value=one.name),
                text,
                gr.Dropdown(choices=orders_of(one), value=how),
                gr.CheckboxGroup(choices=columns, value=table_of(one)),
                *shown_part(one, text, how, table_of(one)),
                gr.Checkbox(visible=len(one.rows) > ROWS),
            )

        def change_track(name: str, text: str, how: str, whole: bool) -> tuple[Any, ...]:
            one = found(name)
            if one is None:
                return how, gr.CheckboxGroup(choices=[]), None, "", gr.Checkbox(), ""
            chosen = table_of(one)
            return (
                gr.Dropdown(choices=orders_of(one), value=how),
                gr.CheckboxGroup(choices=columns_of(one), value=chosen),
                *shown_part(one, text, how, chosen, whole=whole),
                gr.Checkbox(visible=len(one.rows) > ROWS),
                _address(name, text, how),
            )

        def draw(name: str, which: str) -> Any:
            one = found(name)
            return FIGURES[which](one) if one else None

        blocks.load(
            start,
            None,
            [track, search, order, shown, table, count, everything],
            api_visibility="private",
        )
        filters = [track, search, order, shown, everything]
        track.input(
            change_track,
            [track, search, order, everything],
            [order, shown, table, count, everything, address],
            api_visibility="private",
        )
        for source in (search.change, order.input, shown.input, everything.input):
            source(
                update,
                filters,
                [table, count, address],
                api_visibility="private",
                show_progress="hidden",
            )
        plot_tab.select(draw, [track, kind], plot, api_visibility="private")
        kind.input(draw, [track, kind], plot, api_visibility="private")
    return blocks


def shown_part(
    track: TrackBoard, text: str, how: str, columns: Sequence[str], *, whole: bool = False
) -> tuple[Any, str]:
    """The table, and how many of the entries it holds."""
    rows = matching(track, text, how)
    part = rows if whole else rows[:ROWS]
    return frame_of(track, part, columns), f"{len(part)} of {len(track.rows)} entries shown."


def _address(track: str, search: str, order: str) -> str:
    query = urlencode({"track": track, "search": search[:100], "order": order})
    return f"`{query}`"
