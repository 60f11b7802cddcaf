"""A device that is not there is said at once, and no device is recorded that did not compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from wordsight.cli import app
from wordsight.errors import WordsightError
from wordsight.models.conse import ConSE
from wordsight.models.device import usable_device
from wordsight.models.hf import HFImageTextToText
from wordsight.models.itm import ImageTextMatcher

no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")


def test_without_a_name_a_gpu_where_there_is_one() -> None:
    assert usable_device(None).type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert usable_device("cpu") == torch.device("cpu")
    with pytest.raises(WordsightError, match="device=toaster"):
        usable_device("toaster")


@no_gpu
@pytest.mark.parametrize("kind", [HFImageTextToText, ImageTextMatcher])
def test_models_say_so_before_they_look_for_their_checkpoint(kind: type) -> None:
    with pytest.raises(WordsightError, match=r"device=cuda: .*it sees 0 GPU"):
        kind(pretrained="org/nowhere", device="cuda")


@no_gpu
@pytest.mark.parametrize("words", [["--device", "cuda"], ["--model_args", "device=cuda"]])
@pytest.mark.parametrize("model", ["wordsight_hf", "wordsight_itm", "conse"])
def test_command_ends_in_one_line(words: list[str], model: str, tmp_path: Path) -> None:
    arguments = "device=cuda" if words[0] == "--model_args" else ""
    if model != "conse":
        arguments = ",".join(["pretrained=org/nowhere", *([arguments] if arguments else [])])
    more = words if words[0] == "--device" else []
    given = ["--model_args", arguments] if arguments else []
    done = CliRunner().invoke(
        app,
        ["eval", "--model", model, *given, *more, "--tasks", "sage_demo", "--output_path",
         str(tmp_path)],
    )  # fmt: skip
    message = str(done.exception) if done.exception is not None else done.output
    assert done.exit_code != 0
    assert "device=cuda" in message
    assert "\n" not in message.strip()


def test_conse_records_no_other_device_than_the_cpu(tmp_path: Path) -> None:
    pytest.importorskip("timm")
    with pytest.raises(WordsightError, match="computes on the CPU only"):
        ConSE(device="cuda")
    assert ConSE().device == ConSE(device="cpu").device == torch.device("cpu")
    done = CliRunner().invoke(
        app,
        ["eval", "--model", "conse", "--tasks", "sage_demo", "--limit", "1", "--output_path",
         str(tmp_path)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "wordsight_manifest.json").read_text())
    assert manifest["device"] in (None, "cpu")
