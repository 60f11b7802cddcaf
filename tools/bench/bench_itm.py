"""wordsight_itm against a bare loop over the distinct pictures, and against one call per request.

    python tools/bench/bench_itm.py --pictures 100

CLIP's shape with random weights, VerSe-like data: 3.6 slots per picture. The bare loop decodes,
preprocesses and encodes each picture once, in batches of the same size, and nothing else.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path

import torch
from bench_hf import timed
from data import SLOTS_PER_PICTURE, JpegPictures, verse_like

from wordsight.models.itm import ImageTextMatcher
from wordsight.tiny_models import Size, build_tiny_model

SIZE = Size(
    vision_hidden=256, vision_intermediate=1024, vision_layers=6, vision_heads=4, picture=224
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--pictures", type=int, default=100)
    parser.add_argument("--side", type=int, default=320)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    pictures = JpegPictures(arguments.pictures, arguments.side)
    asks = verse_like(pictures, SLOTS_PER_PICTURE)
    with tempfile.TemporaryDirectory() as folder:
        path = build_tiny_model("clip", Path(folder) / "clip", size=SIZE)

        def load(batch_size: int, workers: int) -> ImageTextMatcher:
            return ImageTextMatcher(
                pretrained=str(path),
                device=arguments.device,
                dtype=arguments.dtype,
                batch_size=batch_size,
                workers=workers,
            )

        model = load(arguments.batch_size, arguments.workers)
        answers, wall, cpu = timed(lambda: list(model.answer(asks)), arguments.device)

        bare = load(arguments.batch_size, 0)
        firsts = list({ask.image_id: ask for ask in asks}.values())

        def loop() -> None:
            pending = iter(firsts)
            while batch := list(itertools.islice(pending, arguments.batch_size)):
                bare.encode_pictures([bare.prepare(ask) for ask in batch])

        _, bare_wall, bare_cpu = timed(loop, arguments.device)

        each = load(1, 0)

        def per_request() -> list[float]:
            found = []
            for ask in asks:
                picture = each.encode_pictures([each.prepare(ask)])[0]
                found.append(float(picture @ each.encode_texts([each.words(ask)])[0]))
            return found

        _, slow_wall, slow_cpu = timed(per_request, arguments.device)
    print(
        f"{len(answers)} requests over {len(firsts)} pictures\n"
        f"  wordsight_itm      {wall:6.1f} s, {cpu:6.1f} s CPU\n"
        f"  bare encoder loop  {bare_wall:6.1f} s, {bare_cpu:6.1f} s CPU: wordsight_itm has "
        f"{bare_wall / wall:.0%} of its speed (CPU time {bare_cpu / cpu:.0%})\n"
        f"  one per request    {slow_wall:6.1f} s, {slow_cpu:6.1f} s CPU: wordsight_itm is "
        f"{slow_wall / wall:.1f} times as fast (CPU time {slow_cpu / cpu:.1f} times)"
    )


if __name__ == "__main__":
    main()
