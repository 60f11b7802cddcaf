"""wordsight_hf against the stock path of lmms-eval on the same weights, and with reuse off.

    python tools/bench/bench_hf.py                      # CPU, about five minutes on two cores
    python tools/bench/bench_hf.py --device cuda --dtype bfloat16 --model full --batch_size 16

Weights are random and built here; nothing is downloaded. "stock" is lmms-eval's own qwen2_5_vl
adapter: generate, one request at a time. CPU seconds are given beside wall-clock ones, since they
hold on a machine that others use too.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from data import SLOTS_PER_PICTURE, JpegPictures, verse_like

from wordsight.models.base import Ask
from wordsight.models.hf import HFImageTextToText
from wordsight.tiny_models import Size, build_tiny_model, chat_inputs, steer_to_yes_no

SIZES = {
    "tiny": Size(),
    # the forward pass is more than half of what the stock path takes; 529 tokens per picture
    "mid": Size(
        hidden=192,
        intermediate=512,
        layers=4,
        heads=6,
        kv_heads=2,
        vision_hidden=96,
        vision_intermediate=256,
        vision_layers=4,
        vision_heads=4,
        picture=640,
    ),
    # Qwen2.5-VL-7B's shape
    "full": Size(
        hidden=3584,
        intermediate=18944,
        layers=28,
        heads=28,
        kv_heads=4,
        vision_hidden=1280,
        vision_intermediate=3420,
        vision_layers=32,
        vision_heads=16,
        picture=640,
        vocabulary=152064,
    ),
}
# 256 tokens per picture; LLaVA-1.5's own side and 576 tokens; 256 tokens
NINE_FORMS = (("llava", 224), ("llava", 336), ("qwen2_5_vl", 448))
NINE = (
    "Is this a plant?",
    "Is this a tool?",
    "Is it an animal?",
    "Does it show a vehicle?",
    "Is the context a term?",
    "Is there a word?",
    "Is it in use?",
    "Is it a photo?",
    "Does it give a meaning?",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--model", default="tiny,mid", help="sizes, separated by commas")
    parser.add_argument("--pictures", type=int, default=10)
    parser.add_argument("--side", type=int, default=640, help="of the pictures, in pixels")
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.model.split(","):
            against_stock(name, Path(folder), arguments)
        for name in arguments.model.split(","):
            nine_questions(name, Path(folder), arguments)


def against_stock(name: str, root: Path, arguments: argparse.Namespace) -> None:
    """Requests per second, decisions and probabilities on VerSe-like data."""
    folder = build_tiny_model("qwen2_5_vl", root / f"{name}-qwen", size=SIZES[name])
    steer_to_yes_no(folder)
    asks = verse_like(JpegPictures(arguments.pictures, arguments.side), SLOTS_PER_PICTURE)
    print(f"\n{name}: {len(asks)} requests, {arguments.pictures} pictures of {arguments.side} px")
    texts, wall, cpu, share = run_stock(folder, asks, arguments)
    print(f"  stock        {_rate(asks, wall, cpu)}, forward passes {share:.0%} of the time")
    runs: dict[str, list[dict[str, float]]] = {}
    for reuse in ("off", "on"):
        model = _load(folder, reuse, arguments)
        responses, here, cpu_here = timed(answers_of(model, asks), arguments.device)
        runs[reuse] = [json.loads(response) for response in responses]
        print(
            f"  reuse {reuse:3}    {_rate(asks, here, cpu_here)}, "
            f"{wall / here:.1f} times stock (CPU time {cpu / cpu_here:.1f} times)"
        )
        del model
    said = [i for i, text in enumerate(texts) if text in ("Yes", "No")]
    same = sum((texts[i] == "Yes") == (_odds(runs["on"][i]) > 0) for i in said)
    moved = max(abs(_p(a) - _p(b)) for a, b in zip(runs["on"], runs["off"], strict=True))
    plain = plain_forward(folder, asks, arguments)
    error = max(abs(_p(a) - p) for a, p in zip(runs["on"], plain, strict=True))
    print(f"  decisions as stock in {same} of {len(said)} answers with Yes or No")
    print(f"  P(yes) moves by {moved:.1e} with reuse, {error:.1e} from plain forward passes")


def nine_questions(name: str, root: Path, arguments: argparse.Namespace) -> None:
    """Reuse on over off: several questions about each picture, as CGR asks them."""
    size = SIZES[name]
    for family, side in NINE_FORMS:
        larger = dataclasses.replace(size, picture=side)
        folder = build_tiny_model(family, root / f"{name}-{family}-{side}", size=larger)
        pictures = JpegPictures(arguments.pictures, 448)
        asks = [
            Ask(question=question, image_id=image_id, source=pictures)
            for image_id in pictures.files
            for question in NINE
        ]
        found: dict[str, tuple[list[dict[str, float]], float, float]] = {}
        lengths = (0, 0)
        for reuse in ("off", "on"):
            model = _load(folder, reuse, arguments)
            responses, wall, cpu = timed(answers_of(model, asks), arguments.device)
            found[reuse] = [json.loads(response) for response in responses], wall, cpu
            prompter = model.reader.prompter
            prepared = prompter.prepare(asks[0].question, asks[0].picture())
            longest = max(map(len, prompter.tails(NINE)))
            lengths = prepared.length, longest
            del model
        moved = max(
            abs(_p(a) - _p(b)) for a, b in zip(found["on"][0], found["off"][0], strict=True)
        )
        print(
            f"\n{name} {family} at {side} px, nine questions on each of {len(pictures.files)} "
            f"pictures, {lengths[0]} tokens before the question, at most {lengths[1]} after:\n"
            f"  reuse on is {found['off'][1] / found['on'][1]:.1f} times as fast as off "
            f"(CPU time {found['off'][2] / found['on'][2]:.1f} times); P(yes) moves by {moved:.1e}"
        )


def answers_of(model: HFImageTextToText, asks: Sequence[Ask]) -> Callable[[], list[str]]:
    """The work of answering."""
    return lambda: list(model.answer(asks))


def run_stock(
    folder: Path, asks: Sequence[Ask], arguments: argparse.Namespace
) -> tuple[list[str], float, float, float]:
    """Texts, wall-clock seconds, CPU seconds, share of the forward passes."""
    from lmms_eval.api.instance import Instance
    from lmms_eval.models import get_model

    pixels = json.loads((folder / "processor_config.json").read_text())["image_processor"]
    adapter = get_model("qwen2_5_vl", False)(
        pretrained=str(folder),
        device=arguments.device,
        device_map=arguments.device,
        batch_size=1,
        min_pixels=pixels["size"]["shortest_edge"],
        max_pixels=pixels["size"]["longest_edge"],
    )
    adapter._model.to(getattr(torch, arguments.dtype))
    inside, depth = 0.0, 0
    started = 0.0

    def before(*_: Any) -> None:
        nonlocal depth, started
        depth += 1
        if depth == 1:
            _wait(arguments.device)
            started = time.perf_counter()

    def after(*_: Any) -> None:
        nonlocal depth, inside
        depth -= 1
        if depth == 0:
            _wait(arguments.device)
            inside += time.perf_counter() - started

    # generate may encode the picture outside of the whole model's forward
    for module in (adapter._model, adapter._model.model.visual):
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)

    def messages(ask: Ask) -> list[dict[str, Any]]:
        content = [
            {"type": "image", "url": ask.picture()},
            {"type": "text", "text": ask.question},
        ]
        return [{"role": "user", "content": content}]

    adapter.task_dict = {"bench": {"test": asks}}
    requests = [
        Instance(
            request_type="generate_until",
            arguments=(ask.question, messages, {"max_new_tokens": 32}, number, "bench", "test"),
            idx=0,
            metadata={"task": "bench", "doc_id": number, "repeats": 1},
        )
        for number, ask in enumerate(asks)
    ]
    answers, wall, cpu = timed(lambda: list(adapter.generate_until(requests)), arguments.device)
    texts = [getattr(answer, "text", answer).strip() for answer in answers]
    return texts, wall, cpu, inside / wall


def plain_forward(folder: Path, asks: Sequence[Ask], arguments: argparse.Namespace) -> list[float]:
    """P(yes) by transformers' calls alone, in float32."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    model.eval().to(arguments.device)
    yes, no = processor.tokenizer.convert_tokens_to_ids(["Yes", "No"])
    more = {
        word: [
            number
            for token, number in processor.tokenizer.get_vocab().items()
            if token.strip("\u0120 ").lower() == word
        ]
        for word in ("yes", "no")
    }
    assert yes in more["yes"]
    assert no in more["no"]
    found = []
    for ask in asks:
        inputs = chat_inputs(processor, ask.question, [ask.picture()]).to(arguments.device)
        with torch.no_grad():
            logits = model(**inputs).logits[0, -1].double()
        odds = logits[more["yes"]].logsumexp(0) - logits[more["no"]].logsumexp(0)
        found.append(float(odds.sigmoid()))
    return found


def timed(work: Callable[[], Any], device: str) -> tuple[Any, float, float]:
    """Result, wall-clock seconds and CPU seconds of this process."""
    gc.collect()
    _wait(device)
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    _wait(device)
    return result, time.perf_counter() - wall, time.process_time() - cpu


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _load(folder: Path, reuse: Any, arguments: argparse.Namespace) -> HFImageTextToText:
    return HFImageTextToText(
        pretrained=str(folder),
        dtype=arguments.dtype,
        device=arguments.device,
        batch_size=arguments.batch_size,
        reuse=reuse,
        workers=arguments.workers,
    )


def _rate(asks: Sequence[Ask], wall: float, cpu: float) -> str:
    return f"{len(asks) / wall:7.2f} requests/s ({wall:.1f} s, {cpu:.1f} s CPU)"


def _odds(answer: dict[str, float]) -> float:
    return answer["yes"] - answer["no"]


def _p(answer: dict[str, float]) -> float:
    return float(torch.tensor(_odds(answer), dtype=torch.float64).sigmoid())


if __name__ == "__main__":
    main()
