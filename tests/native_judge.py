"""A judge that answers the real prompts of the frameworks' own metrics by what they say.

It is a small honest one: a sentence is a claim, and a claim is supported where every word of it is in
the context. Asked something that it does not know, it refuses, so that a changed prompt shows.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from judge_server import Act

CASE = {
    "id": "paris",
    "input": "What is the capital of France?",
    "expected": "Paris is the capital of France. It lies on the Seine.",
    "reference_contexts": ["Paris is the capital of France."],
}
OUTPUT = {
    "case_id": "paris",
    "text": "Paris is the capital of France. It has ten rivers.",
    "retrieved_contexts": ["Paris is the capital of France."],
}
"""Half of the answer is supported, half of it is relevant, half of the reference is in the context.
"""
CRITERIA = "It names the city."


def sentences(text: str) -> list[str]:
    return [f"{each.strip()}." for each in text.split(".") if each.strip()]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def supported(claim: str, context: str) -> bool:
    return words(claim) <= words(context)


def related(claim: str, question: str) -> bool:
    return len(words(claim) & words(question)) > 1


def between(prompt: str, start: str, end: str) -> str:
    """What stands between the last ``start`` and the ``end`` after it."""
    return prompt.rpartition(start)[2].partition(end)[0].strip()


# --- DeepEval ---------------------------------------------------------------------------------


def _listed(name: str, start: str) -> Callable[[str], Any]:
    return lambda prompt: {name: sentences(between(prompt, start, "\n\nJSON:"))}


def _verdict(good: bool) -> dict[str, Any]:
    """As DeepEval's prompts want it: no reason where there is nothing to say."""
    return {"verdict": "yes"} if good else {"verdict": "no", "reason": "it is not there"}


def _faithful(prompt: str) -> Any:
    contexts = between(prompt, "Retrieval Contexts:\n", "\n\nClaims:")
    claims = ast.literal_eval(between(prompt, "Claims:\n", "\n\nJSON:"))
    return {"verdicts": [_verdict(supported(each, contexts)) for each in claims]}


def _relevant(prompt: str) -> Any:
    asked = between(prompt, "Input:\n", "\n\nStatements:")
    found = ast.literal_eval(between(prompt, "Statements:\n", "\n\nJSON:"))
    return {"verdicts": [_verdict(related(each, asked)) for each in found]}


def _recalled(prompt: str) -> Any:
    expected = between(prompt, "Expected Output:\n", "\n\nRetrieval Context:")
    context = between(prompt, "Retrieval Context:\n", "\n\nJSON:")
    found = [supported(each, context) for each in sentences(expected)]
    return {"verdicts": [{"verdict": "yes" if each else "no", "reason": "so"} for each in found]}


def _scored(prompt: str) -> Any:
    return {"reason": "it names the city", "score": 8 if "Paris" in prompt else 1}


DEEPEVAL: dict[str, Callable[[str], Any]] = {
    "can inferred from the provided text": _listed("truths", "\nText:\n"),
    "can inferred from the provided actual AI output": _listed("claims", "AI Output:\n"),
    "breakdown and generate a list of statements": _listed("statements", "\nText:\n"),
    "EACH claim contradicts any facts": _faithful,
    "whether each statement is relevant to address the input": _relevant,
    "whether the sentence can be attributed to the nodes": _recalled,
    "the 'reason' key providing the reason": lambda _: {"reason": "The score is what it is."},
    "generate 3-4 concise evaluation steps": lambda _: {"steps": ["Look for the city."]},
    "an integer between 0 and 10, with 10 indicating strong alignment": _scored,
    "10 = The conversation *fully* meets the criteria": _scored,
    "\n\nRubric:\n0-2: ": _scored,
}

# --- RAGAS ------------------------------------------------------------------------------------


def _input(prompt: str) -> Any:
    return json.loads(between(prompt, "\ninput: ", "\nOutput:"))


def _nli(prompt: str) -> Any:
    given = _input(prompt)
    return {
        "statements": [
            {"statement": each, "reason": "so", "verdict": int(supported(each, given["context"]))}
            for each in given["statements"]
        ]
    }


def _attributed(prompt: str) -> Any:
    given = _input(prompt)
    return {
        "classifications": [
            {
                "statement": each,
                "reason": "so",
                "attributed": int(supported(each, given["context"])),
            }
            for each in sentences(given["answer"])
        ]
    }


RAGAS: dict[str, Callable[[str], Any]] = {
    "analyze the complexity of each sentence": lambda prompt: {
        "statements": sentences(_input(prompt)["answer"])
    },
    "judge the faithfulness of a series of statements": _nli,
    "identify if the answer is noncommittal": lambda prompt: {
        "question": f"What of {_input(prompt)['response']}",
        "noncommittal": 0,
    },
    "classify if the statement can be attributed": _attributed,
    "Evaluate the input based on the criteria defined": _scored,
    "based solely on the scoring criteria": lambda prompt: {
        "feedback": "it names the city",
        "score": 4 if "score5_description: All" in prompt and "Paris" in prompt else 1,
    },
}

# --- promptfoo --------------------------------------------------------------------------------


def _inferred(prompt: str) -> Any:
    context = between(prompt, "\ncontext:\n", "\nstatements:")
    claims = between(prompt, "\nstatements:\n", "\nAnswer:").splitlines()
    found = ["Yes" if supported(each, context) else "No" for each in claims]
    return {"verdicts": [{"explanation": "so", "verdict": each} for each in found]}


def _classified(prompt: str) -> Any:
    context = between(prompt, "\ncontext:", "\nanswer:")
    expected = between(prompt, "\nanswer:", "\nclassification:")
    return {
        "classifications": [
            {"sentence": each, "reason": "so", "attributed": supported(each, context)}
            for each in sentences(expected)
        ]
    }


PROMPTFOO: dict[str, Callable[[str], Any]] = {
    "create one or more statements from each sentence": lambda prompt: {
        "statements": sentences(between(prompt, "\nanswer: ", "\nstatements:"))
    },
    "Natural language inference": _inferred,
    "Generate question for the given answer": lambda prompt: {
        "question": f"What of {between(prompt, 'Answer:', chr(10) + 'Question:')}"
    },
    "classify if the sentence can be attributed": _classified,
    "rate the Reply on one metric": _scored,
}

# --- Inspect ----------------------------------------------------------------------------------

INSPECT: dict[str, Callable[[str], Any]] = {
    "Does the submission meet the criterion?": lambda prompt: {
        "reasoning": "it names the city",
        "grade": "C" if "Paris" in prompt else "I",
    },
}

PROMPTS = {**DEEPEVAL, **RAGAS, **PROMPTFOO, **INSPECT}


VOCABULARY = sorted(words(f"{CASE} {OUTPUT} what of"))


def embed(body: dict[str, Any]) -> Act:
    """Texts as bags of words, and how many others there are."""
    data = []
    for at, text in enumerate(body["input"]):
        found = words(text)
        vector = [float(word in found) for word in VOCABULARY]
        data.append({"index": at, "embedding": [*vector, float(len(found - set(VOCABULARY)))]})
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return Act(body=json.dumps({"object": "list", "data": data, "usage": usage}).encode())


def honest(body: dict[str, Any]) -> Act:
    """The answer to whatever a framework's own metric asks."""
    if "input" in body:
        return embed(body)
    prompt = "\n".join(message["content"] for message in body["messages"])
    answer = next((reply for said, reply in PROMPTS.items() if said in prompt), None)
    if answer is None:
        return Act(status=400, body=f"no answer to {prompt[:100]!r}".encode())
    return Act(answer(prompt))
