"""GAR's prompts (SAGE, section 4), in our own words, each with its version."""

from __future__ import annotations

from wordsight.prompts import Prompt

# No worked example: a small model copies the example instead of the item.
DEFINE = Prompt(
    version="gar_define-1",
    template=(
        'Dictionary meanings of "{term}":\n{glosses}\n\n'
        'What does "{term}" mean in "{context}"? Write three lines.\n'
        "Number: the number of the meaning that fits, or 0 if none does\n"
        "Definition: one sentence, from the meaning that fits, or from the context if none does\n"
        "Visible: what a picture of it shows, as up to five short phrases separated by semicolons"
    ),
)

DEFINE_WITHOUT_GLOSSES = Prompt(
    version="gar_define_plain-1",
    template=(
        'What does "{term}" mean in "{context}"? Write two lines.\n'
        "Definition: one sentence\n"
        "Visible: what a picture of it shows, as up to five short phrases separated by semicolons"
    ),
)

DECOMPOSE = Prompt(
    version="gar_decompose-1",
    template=(
        'Definition of "{term}": {definition}\n'
        "Visible: {visible}\n\n"
        "Split this into short checks that a look at a picture can settle. Write three lines, each "
        "with one to {most} short phrases separated by semicolons.\n"
        "object: things or beings that are there\n"
        "attribute: their colour, shape, material, parts or place\n"
        "state: what they do, or the situation they are in"
    ),
)

ASK_AGAIN = Prompt(
    version="gar_again-1",
    template=(
        "{prompt}\n\nYour last answer could not be read. Keep to the lines asked for. "
        "Begin with:\n{start}"
    ),
)

DEFINITION_QUESTION = Prompt(
    version="gar_definition_question-1",
    template=(
        'The term "{term}" in the context "{context}" means: {definition} '
        "{visible}"
        "Does the picture show the term in this meaning? "
        "Answer with one word, Yes or No."
    ),
)

CONSTRAINT_QUESTIONS = {
    "object": Prompt(
        version="gar_object_question-1",
        template="Is this to be seen in the picture: {phrase}? Answer with one word, Yes or No.",
    ),
    "attribute": Prompt(
        version="gar_attribute_question-1",
        template=(
            "Does what the picture shows have this property: {phrase}? "
            "Answer with one word, Yes or No."
        ),
    ),
    "state": Prompt(
        version="gar_state_question-1",
        template=(
            "Is this going on, or is this the situation, in the picture: {phrase}? "
            "Answer with one word, Yes or No."
        ),
    ),
}

_ALL = (
    DEFINE,
    DEFINE_WITHOUT_GLOSSES,
    DECOMPOSE,
    ASK_AGAIN,
    DEFINITION_QUESTION,
    *CONSTRAINT_QUESTIONS.values(),
)
VERSIONS = " ".join(prompt.version for prompt in _ALL)
