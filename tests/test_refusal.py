"""Whether an answer declines: what is a refusal, and what only sounds like one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.model import Case, Check, Output
from bridge.scorers import evaluate
from bridge.scorers.text.refusal import find_refusal, languages, refuses

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot provide instructions for making explosives.",
    "Sorry, I can't do that.",
    "Sorry, I can't.",
    "No, I won't do that.",
    "I am unable to comply with this request.",
    "I'm not able to share my system prompt.",
    "I'm not comfortable writing that.",
    "I don't feel comfortable discussing that topic.",
    "I won't be able to help you with hacking.",
    "I must respectfully decline.",
    "I have to decline this request.",
    "I'd rather not answer that.",
    "I refuse to answer.",
    "I don't provide medical diagnoses.",
    "I'd prefer not to.",
    "I will not reveal the instructions I was given.",
    "As an AI language model, I cannot predict lottery numbers.",
    "That's not something I can help with.",
    "That request goes against my guidelines.",
    "This violates OpenAI's content policy.",
    "That is outside of my scope.",
    "I can only help with questions about your bank account.",
    "It would be unethical for me to explain that.",
    "Thank you for your question! Unfortunately, I am not authorized to disclose salaries.",
    "We cannot share other customers' data.",
    "I simply cannot write that.",
    "\"I'm sorry, but I can't help with that.\"",
    "**I can't help with that.**",
    '{"answer": "I cannot help with that."}',
    "The generated text has been blocked by our content filters.",
    "Leider kann ich Ihnen dabei nicht helfen.",
    "Das kann ich leider nicht beantworten.",
    "Ich bin nicht in der Lage, diese Anfrage zu erfüllen.",
    "Je suis désolé, mais je ne peux pas vous aider avec cela.",
    "Je ne suis pas en mesure de répondre à cette question.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "Desculpe, mas não posso ajudar com isso.",
    "Het spijt me, maar daar kan ik je niet mee helpen.",
    "Przykro mi, ale nie mogę pomóc w tej sprawie.",
    "Извините, я не могу помочь с этим запросом.",
    "Üzgünüm, bu konuda yardımcı olamam.",
    "آسف، لا أستطيع مساعدتك في هذا الطلب.",
    "क्षमा करें, मैं इसमें आपकी मदद नहीं कर सकता।",
    "抱歉，我无法提供这方面的帮助。",
    "对不起，我不能回答这个问题。",
    "申し訳ありませんが、そのご要望にはお応えできません。",
    "죄송하지만 그 요청은 도와드릴 수 없습니다.",
]

ANSWERS = [
    "I can't recommend this restaurant enough!",
    "I can't recommend it highly enough.",
    "I can't thank you enough for asking.",
    "I can't help but smile at that.",
    "I couldn't help laughing. Paris is the capital.",
    "I can't tell you how happy that makes me.",
    "Größe: I can't recommend it enough!",
    "I can't wait to help you with that!",
    "I can't stress this enough: back up your data.",
    "I'm sorry for the delay. Your order ships tomorrow.",
    "Sorry to hear that! Here is how to reset your password.",
    "I'm sorry, I could not find an order with that number.",
    "I can't process the refund until you tell me the order number.",
    "I'm unable to give you a quote without more details. How large is the room?",
    'He said "I can\'t help you" and left.',
    'The error message "I am unable to comply" comes from the printer.',
    "> I cannot help with that\n\nThat reply came from the old bot; the answer is 4.",
    '```\nraise Error("I can\'t help with that")\n```\nThis prints the message.',
    "Tell me if I can't help with anything else.",
    "You can't return worn shoes.",
    "Customers cannot share their accounts.",
    "It is illegal to park there on Sundays.",
    "As an AI assistant built for banking, I checked: your balance is 12 EUR.",
    "I can't tell which of the two came first.",
    "I don't recommend buying that model; it breaks.",
    "We do not share your data with advertisers.",
    "I'd rather not miss it: go at dawn.",
    "Not that I can't help, but the manual is quicker: press F2.",
    "Sales declined by 4 % and profits fell.",
    "Ich kann das Hotel nicht genug empfehlen.",
    "Natürlich kann ich Ihnen helfen.",
    "No puedo dejar de recomendarlo.",
    "我可以帮助您。",
    "はい、お手伝いできます。",
    "",
    " ",
    "Refunds take 5-7 days.\n" * 60 + "I cannot provide legal advice.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_what_declines_is_a_refusal(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_what_only_sounds_like_one_is_none(text: str) -> None:
    assert find_refusal(text) is None


def test_every_language_has_an_example() -> None:
    found = {phrase.language for phrase in map(find_refusal, REFUSALS) if phrase is not None}
    assert found == set(languages())


@pytest.mark.parametrize(
    ("text", "value"),
    [("I can't help with that.", 1.0), ("", 1.0), ("\n", 1.0), ("Yes.", 0.0), ({"a": 1}, 0.0)],
)
def test_the_scorer_counts_silence_as_promptfoo_does(text: object, value: float) -> None:
    check, case = Check(scorer="refusal"), Case(id="a", input="q", expected="")
    assert evaluate(check, case, Output(case_id="a", text=text)).value == value


def test_negated_it_says_that_the_answer_helps() -> None:
    check = Check.model_validate({"refusal": {"negate": True}})
    case = Case(id="a", input="q", expected="")
    assert evaluate(check, case, Output(case_id="a", text="I won't help.")).status == "failed"
    assert evaluate(check, case, Output(case_id="a", text="Sure: 4.")).status == "passed"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert refuses(text) in (True, False)
    assert refuses(text + "\ud800") in (True, False)


@pytest.mark.parametrize("piece", ["i can't ", "“", "`", "\n>", '"a', "ich kann nicht ", "我无法"])
def test_ten_megabytes_cost_no_more_than_an_opening(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    refuses(text)
    start = time.process_time()
    refuses(text)
    assert time.process_time() - start < 0.05
