"""Every prompt of Symbal, its baselines and its judge, each with its version.

The wording is ours; the questions are those of the paper's appendices A, B and D.
"""

from __future__ import annotations

from wordsight.prompts import Prompt

ACCURATE_TEXT = Prompt(
    "accurate_text-1",
    "Description: {reference}\n"
    "Statement: {fact}\n"
    "Take the description as true. It may leave things out, and so may the statement. Answer 0 if "
    "the statement adds or contradicts a detail so that the description does not support it, and "
    "1 if the statement is accurate. Reply with the one digit only.",
)
ACCURATE_PICTURE = Prompt(
    "accurate_picture-1",
    "Statement about the picture: {fact}\n"
    "Is the statement accurate for this picture? Reply with one digit only: 1 if it is, 0 if it "
    "is not.",
)
ACCURATE_BOTH = Prompt(
    "accurate_both-1",
    "A true description of the picture: {reference}\n"
    "Statement about the picture: {fact}\n"
    "Is the statement accurate for this picture? Reply with one digit only: 1 if it is, 0 if it "
    "is not.",
)
CAPTION = Prompt(
    "caption-1",
    "Describe this picture in three or four sentences. State only what can be seen.",
)
FEATURES_TEXT = Prompt(
    "features_text-1",
    'A caption says: "{text}"\n'
    "Which visible things does it say are in the picture? Give each as a short phrase, in one "
    "line that starts with 'Answer:' and separates them by commas. Write nothing else; if there "
    "are none, write 'Answer:'.",
)
_SEEN = (
    "Which things can be seen in this picture? Give at most ten, each as a short phrase, in one "
    "line that starts with 'Answer:' and separates them by commas. Write nothing else; if there "
    "are none, write 'Answer:'."
)
FEATURES_PICTURE = Prompt("features_picture-1", _SEEN)
FEATURES_BOTH = Prompt(
    "features_both-1", "A true description of the picture: {reference}\n" + _SEEN
)
PICK = Prompt(
    "pick-1",
    "Below is one list of features per line.\n{lists}\n"
    "Which {k} features occur in most lines? Count different wordings of one thing together. "
    "Give them most frequent first, in one line that starts with 'Answer:' and separates them "
    "by commas. Write nothing else.",
)
_DIRECT_TASK = (
    "Each sample below has {what} of a picture and a caption that a model wrote for it. The "
    "model makes one mistake again and again, and mostly where the picture shows one certain "
    "visual feature.\n{samples}\n"
    "Name the recurring mistake in the model's captions and the visual feature it goes with. "
)
DIRECT = Prompt(
    "direct-1",
    _DIRECT_TASK + "Reply with exactly two lines, each with your five best guesses, best first, "
    "separated by commas:\nTextual Error: ...\nVisual Feature: ...",
)
# for servers that hold an answer to a JSON schema: a model too small for two lines can be read
DIRECT_JSON = Prompt(
    "direct_json-1",
    _DIRECT_TASK + "Reply with a JSON object of two lists, textual_error and visual_feature, each "
    "with your five best guesses, best first. A guess names one visible thing in one to three "
    "words.",
)
JUDGE = Prompt(
    "judge-1",
    "First phrase: {said}\nSecond phrase: {truth}\n"
    "Do both phrases name the same visual feature? Reply with one digit only: 1 if they do, 0 if "
    "they do not.",
)
