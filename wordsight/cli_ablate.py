"""``wordsight ablate``: which parts of a method do the work, GAR's or Symbal's."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from sage_tasks.gar.cli import ablate as ablate_gar
from symbal_tasks.cli_bench import ablate_symbal


class GarByDefault(TyperGroup):
    """Options without a method's name are GAR's: its tasks came first, under no name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the method's name where options stand in its place."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["gar", *args]
        return list(super().parse_args(ctx, args))


app = typer.Typer(
    cls=GarByDefault,
    no_args_is_help=True,
    help="Compare the parts of a method: gar (also where no method is named) or symbal.",
)
app.command("gar")(ablate_gar)
app.command("symbal")(ablate_symbal)
