"""Questions laid end to end: each token sees what it would see alone."""

from __future__ import annotations

import torch

from wordsight.models.packing import fill, lay_out, parting_mask


def test_lots_keep_order_and_stay_within_the_room() -> None:
    assert fill([2, 3, 4, 9, 1, 1], size=int, room=5) == [[2, 3], [4], [9], [1, 1]]
    assert fill([2, 3], size=int, room=0) == [[2], [3]]
    assert fill([], size=int, room=5) == []


def test_one_sequence_per_line_is_filled_behind() -> None:
    layout = lay_out([[(5, 6, 7)], [(8,)]], pad=0)
    assert layout.ids == [[5, 6, 7], [8, 0, 0]]
    assert layout.offsets == [[0, 1, 2], [0, 1, 2]]
    assert layout.ends == [[3], [1]]
    assert not layout.shared


def test_sequences_end_together_in_all_lines() -> None:
    layout = lay_out([[(1,), (2, 3, 4)], [(5, 6), (7, 8)], [(9,)]], pad=0)
    assert layout.ids == [[0, 1, 2, 3, 4], [5, 6, 0, 7, 8], [0, 9, 0, 0, 0]]
    assert layout.offsets == [[0, 0, 0, 1, 2], [0, 1, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert layout.owners == [[-1, 0, 1, 1, 1], [0, 0, -1, 1, 1], [-1, 0, -1, -1, -1]]
    assert layout.ends == [[2, 5], [2, 5], [2]]
    assert layout.shared


def test_mask_lets_a_token_see_the_picture_and_its_own_question_only() -> None:
    mask = parting_mask(torch.tensor([[0, 0, 1, -1, 1]]), before=2, dtype=torch.float32)
    seen = (mask[0, 0] == 0).int().tolist()
    assert seen == [
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 0, 1, 0],
        [1, 1, 0, 0, 1, 0, 1],
    ]
