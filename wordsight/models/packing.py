"""Several questions about a picture as one sequence after it.

A pass over many short rows copies the picture's keys and values for each of them. Questions laid
end to end need one copy: each token has the position that it would have alone, and a mask lets it
see the picture and its own question only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
_NOBODY = -1


@dataclass(frozen=True)
class Layout:
    """Token sequences in places of a common grid, one line per picture.

    ``ids``, ``offsets`` and ``owners`` have shape (pictures, width): token, its position within
    its own sequence, and the number of that sequence (-1 for filling). ``ends`` tells where the
    sequences of each line end.
    """

    ids: list[list[int]]
    offsets: list[list[int]]
    owners: list[list[int]]
    ends: list[list[int]]

    @property
    def shared(self) -> bool:
        """Whether any line holds several sequences, so that a mask has to part them."""
        return any(len(ends) > 1 for ends in self.ends)


def fill(items: Sequence[T], size: Callable[[T], int], room: int) -> list[list[T]]:
    """Consecutive lots of ``items`` whose sizes sum to at most ``room``, or of one item."""
    lots: list[list[T]] = []
    left = 0
    for item in items:
        if not lots or size(item) > left:
            lots.append([])
            left = room
        lots[-1].append(item)
        left -= size(item)
    return lots


def lay_out(lines: Sequence[Sequence[Sequence[int]]], pad: int) -> Layout:
    """Lay the sequences of each line end to end.

    Where lines hold several, the n-th sequences of all lines end at the same place, so that one
    set of places serves to read all lines. Where each holds one, filling stands behind it: a
    causal model needs no mask then.
    """
    if all(len(line) == 1 for line in lines):
        width = max(len(line[0]) for line in lines)
        rows = [[*line[0], *[pad] * (width - len(line[0]))] for line in lines]
        return Layout(
            rows,
            [list(range(width)) for _ in lines],
            [[0] * width for _ in lines],
            [[len(line[0])] for line in lines],
        )
    slots = max(map(len, lines))
    widths = [max(len(line[slot]) for line in lines if slot < len(line)) for slot in range(slots)]
    ids, offsets, owners = [], [], []
    for line in lines:
        row: list[tuple[int, int, int]] = []
        for slot, width in enumerate(widths):
            tokens = line[slot] if slot < len(line) else ()
            row += [(pad, 0, _NOBODY)] * (width - len(tokens))
            row += [(token, place, slot) for place, token in enumerate(tokens)]
        ids.append([token for token, _, _ in row])
        offsets.append([place for _, place, _ in row])
        owners.append([owner for _, _, owner in row])
    ends = [sum(widths[: slot + 1]) for slot in range(slots)]
    return Layout(ids, offsets, owners, [ends[: len(line)] for line in lines])


def parting_mask(owners: torch.Tensor, before: int, dtype: torch.dtype) -> torch.Tensor:
    """What is added to attention scores, shape (lines, 1, width, before + width).

    owners : shape (lines, width). before : number of tokens before the line, seen by all of it.
    """
    import torch

    lines, width = owners.shape
    same = owners[:, :, None] == owners[:, None, :]
    earlier = torch.ones(width, width, dtype=torch.bool, device=owners.device).tril()
    mask = torch.zeros(lines, 1, width, before + width, dtype=dtype, device=owners.device)
    mask[:, 0, :, before:].masked_fill_(~(same & earlier), torch.finfo(dtype).min)
    return mask
