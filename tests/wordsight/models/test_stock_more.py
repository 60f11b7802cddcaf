"""More stock adapters on tiny checkpoints: by text, with likelihoods, against plain forwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.wordsight.conftest import Command
from tests.wordsight.helpers import Finished, read_run
from tests.wordsight.models.loopback import ChatServer, redness
from tests.wordsight.models.stock_runs import run_adapter
from wordsight.tiny_models import build_tiny_model, steer_first_word

pytestmark = pytest.mark.slow
ITEMS = 2
FIRST_WORD = "max_new_tokens=1"


@dataclass(frozen=True)
class Case:
    """An adapter in one of its forms, the family of its checkpoint, and whether it takes batches.

    All but one compute in bfloat16, which moves with the shape of a batch.
    """

    adapter: str
    family: str
    simple: bool
    batches: bool

    def __str__(self) -> str:
        return f"{self.adapter}-{'simple' if self.simple else 'chat'}"


CASES = (
    Case("gemma3", "gemma3", simple=True, batches=True),
    Case("llava_hf", "llava", simple=True, batches=False),
    Case("llava_hf", "llava", simple=False, batches=False),
    Case("internvl_hf", "internvl", simple=False, batches=False),
    Case("qwen3_vl", "qwen3_vl", simple=False, batches=True),
    Case("qwen3_vl", "qwen3_vl", simple=True, batches=True),
)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """Folder of a checkpoint that answers the case's own prompts with Yes or No."""
    folders: dict[Case, Path] = {}

    def folder(case: Case) -> Path:
        if case.family.startswith("qwen"):
            pytest.importorskip("decord")
            pytest.importorskip("qwen_vl_utils")
        if case not in folders:
            root = tmp_path_factory.mktemp(case.adapter)
            path = build_tiny_model(case.family, root / "model")
            model = stock(case)(pretrained=str(path), device="cpu", device_map="cpu", batch_size=1)
            states: list[torch.Tensor] = []
            model.model.lm_head.register_forward_pre_hook(
                lambda _module, args: states.append(args[0][0, -1].float())
            )
            evaluate(case, path, root / "unsteered", "unsteered", model=model)
            steer_first_word(path, torch.stack(states))
            folders[case] = path
        return folders[case]

    return folder


def stock(case: Case) -> Any:
    from lmms_eval.models import MODEL_REGISTRY_V2

    return MODEL_REGISTRY_V2.get_model_class(case.adapter, force_simple=case.simple)


def evaluate(
    case: Case, folder: Path, output: Path, name: str, batch_size: int = 1, model: Any = None
) -> Finished:
    return run_adapter(
        output,
        name,
        folder,
        simple=case.simple,
        items=ITEMS,
        batch_size=batch_size,
        gen_kwargs=FIRST_WORD,
        model=model,
    )


def plain_forwards(case: Case, folder: Path) -> Any:
    """The stock adapter, one request at a time, with one plain forward of the inputs it makes."""
    base: Any = stock(case)

    class Plain(base):  # type: ignore[misc]
        """Answers with the log-probabilities of the one position after its prompt."""

        def generate_until(self, requests: list[Any]) -> Iterator[str]:
            tokenizer = getattr(self, "processor", None) or self._image_processor
            words = getattr(tokenizer, "tokenizer", tokenizer).get_vocab()
            forms = [
                [n for token, n in words.items() if token.strip("\u0120\u2581 ").lower() == word]
                for word in ("yes", "no")
            ]
            generate, rows = self.model.generate, []

            def forward(*args: Any, **kwargs: Any) -> Any:
                prompt = {
                    name: value
                    for name, value in kwargs.items()
                    if isinstance(value, torch.Tensor) and name != "eos_token_id"
                }
                mask = prompt["attention_mask"]
                if not mask.all():
                    # filled up on the left: a forward by itself would count the filling
                    prompt["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
                with torch.no_grad():
                    rows.append(self.model(**prompt).logits[0, -1].double().log_softmax(-1))
                return generate(*args, **kwargs)

            self.model.generate = forward
            for request in requests:
                list(super().generate_until([request]))
                logs = [float(rows[-1][form].logsumexp(0)) for form in forms]
                yield json.dumps(dict(zip(("yes", "no"), logs, strict=True)))

    made: Any = Plain(pretrained=str(folder), device="cpu", device_map="cpu", batch_size=1)
    return made


@pytest.mark.parametrize("case", CASES, ids=str)
def test_text_likelihoods_and_plain_forwards_agree(
    case: Case, folder_of: Callable[[Case], Path], tmp_path: Path
) -> None:
    folder = folder_of(case)
    text = evaluate(case, folder, tmp_path / "text", case.adapter)
    said = [score for scores in text.scores.values() for score in scores]
    assert len(said) == 10 * ITEMS
    assert {0.0, 1.0} == set(said)
    assert {log["interface"] for log in text.logs.values()} == {"text"}
    assert text.metrics["sage_demo"]["invalid"] == 0
    model = plain_forwards(case, folder)
    truth = evaluate(case, folder, tmp_path / "plain", "plain", model=model)
    for batch_size in (1, 4):
        output = tmp_path / str(batch_size)
        found = evaluate(case, folder, output, f"wordsight_{case.adapter}", batch_size)
        assert {log["interface"] for log in found.logs.values()} == {"likelihood"}
        near = 0.03 if case.batches and batch_size > 1 else 1e-5
        for key, scores in found.scores.items():
            assert scores == pytest.approx(truth.scores[key], abs=near)
            assert [float(score > 0.5) for score in scores] == text.scores[key]
    assert found.metrics["sage_demo"]["failed"] == 0


@pytest.mark.parametrize("case", [CASES[0], CASES[3]], ids=str)
def test_the_command_of_lmms_eval_gives_the_same(
    case: Case, folder_of: Callable[[Case], Path], tmp_path: Path, command: Command
) -> None:
    folder = folder_of(case)
    expected = evaluate(case, folder, tmp_path / "here", case.adapter)
    words = ["--model", case.adapter, "--model_args", f"pretrained={folder},device_map=cpu"]
    words += ["--force_simple"] if case.simple else []
    words += ["--device", "cpu", "--tasks", "sage_demo", "--limit", str(ITEMS), "--log_samples"]
    words += ["--gen_kwargs", FIRST_WORD, "--output_path", str(tmp_path / "there")]
    done = command("lmms_eval", *words)
    assert done.returncode == 0, done.stderr
    found = read_run(tmp_path / "there")
    assert found.scores == expected.scores
    for name in ("hits1", "mrr"):
        assert found.metrics["sage_demo"][name] == expected.metrics["sage_demo"][name]


def test_stock_openai_adapter_by_text(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("openai")
    from sage_tasks.package import open_package
    from sage_tasks.sources import dataset_root

    server = ChatServer(lambda _number, _body: "text")
    words = ["--model", "openai", "--model_args", f"model=m,base_url={server.url},api_key=k"]
    words += ["--tasks", "sage_demo", "--limit", str(ITEMS), "--log_samples"]
    try:
        done = command("lmms_eval", *words, "--output_path", tmp_path)
    finally:
        server.close()
    assert done.returncode == 0, done.stderr
    package = open_package(dataset_root("demo"), "demo")
    found = read_run(tmp_path)
    assert {log["interface"] for log in found.logs.values()} == {"text"}
    for query in package.queries[:ITEMS]:
        reds = [redness(package.picture_bytes(image_id)) for image_id in query.candidates]
        assert found.scores["sage_demo", query.id] == [float(red > 0.5) for red in reds]
    assert len(server.bodies) == 10 * ITEMS
