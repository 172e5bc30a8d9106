"""Labelled dialogues for ``consistency``, written by hand for these tests.

Each has turns of (user, answer, tool calls, passages) and, for the last answer, the kind of its
contradiction, or ``""``. All answers before the last are consistent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bridge.model import Case, Output


@dataclass(frozen=True)
class Said:
    user: str
    answer: str
    calls: tuple[tuple[str, dict[str, Any], Any], ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialogue:
    name: str
    turns: tuple[Said, ...]
    kind: str = ""

    def case(self) -> Case:
        turns = [{"user": turn.user} for turn in self.turns]
        return Case.model_validate({"id": self.name, "input": "", "expected": "", "turns": turns})

    def output(self) -> Output:
        turns = [
            {
                "text": turn.answer,
                "retrieved_contexts": turn.passages,
                "tool_calls": [
                    {"name": name, "arguments": arguments, "result": result}
                    for name, arguments, result in turn.calls
                ],
            }
            for turn in self.turns
        ]
        return Output.model_validate({"case_id": self.name, "turns": turns})


ORDER = ("get_order", {"order_id": "FO-10231"}, {
    "order_id": "FO-10231", "status": "shipped", "total": 1299.0, "currency": "EUR",
    "eta": "2026-06-18", "items": [{"name": "Fjell tent", "quantity": 2, "unit_price": 649.5}],
})  # fmt: skip
OTHER = ("get_order", {"order_id": "FO-10240"}, {
    "order_id": "FO-10240", "status": "processing", "total": 89.5, "currency": "EUR", "eta": None,
})  # fmt: skip
FLIGHT = ("find_flight", {"to": "Oslo"}, {
    "flight": "SK4707", "departure_date": "2026-07-03", "price": 240, "currency": "USD", "seats_left": 4,
})  # fmt: skip
BOOKING = ("get_booking", {"booking_id": "HB-77120"}, {
    "booking_id": "HB-77120", "city": "Trondheim", "nights": 3, "check_in": "2026-08-12",
})  # fmt: skip
HELLO = Said("Hello", "Hello! How can I help you?")
ABOUT = Said(
    "Tell me about order FO-10231.",
    "Order FO-10231 has been shipped; its total is 1,299.00 EUR.",
    (ORDER,),
)
BOTH = Said("And FO-10240?", "Order FO-10240 is still being processed. Total: 89.50 EUR.", (OTHER,))
RETURNS = Said(
    "How long can I return an item?", "You can return any unused item within 60 days of delivery."
)


def last(name: str, kind: str, *turns: Said) -> Dialogue:
    return Dialogue(name, turns, kind)


FAULTY = [
    last(
        "total",
        "tool_result",
        Said(
            "What is the total of FO-10231?",
            "The total of order FO-10231 is 1,399.00 EUR.",
            (ORDER,),
        ),
    ),
    last("total-symbol", "tool_result", Said("What do I owe?", "Your total is €1,229.", (ORDER,))),
    last(
        "total-later",
        "tool_result",
        ABOUT,
        Said("What was the total again?", "The total of FO-10231 is 1,249 EUR."),
    ),
    last(
        "eta",
        "tool_result",
        Said("When does FO-10231 arrive?", "It arrives on 21 June 2026.", (ORDER,)),
    ),
    last(
        "eta-iso",
        "tool_result",
        Said("When does FO-10231 arrive?", "It arrives on 2026-06-28.", (ORDER,)),
    ),
    last(
        "seats",
        "tool_result",
        Said("Flights to Oslo?", "On SK4707 there are 9 seats left.", (FLIGHT,)),
    ),
    last(
        "price",
        "tool_result",
        Said("Flights to Oslo?", "Flight SK4707 has a price of $420.", (FLIGHT,)),
    ),
    last(
        "departure",
        "tool_result",
        Said("Flights to Oslo?", "SK4707 departs on July 5, 2026.", (FLIGHT,)),
    ),
    last(
        "nights", "tool_result", Said("What did I book?", "HB-77120 is for 5 nights.", (BOOKING,))
    ),
    last(
        "state-swap",
        "tool_result",
        ABOUT,
        BOTH,
        Said("Which one is where?", "FO-10231 is processing and on our desk."),
    ),
    last(
        "state-swap-2",
        "tool_result",
        ABOUT,
        BOTH,
        Said("Which one is where?", "Order FO-10240 is shipped."),
    ),
    last(
        "garbled-id", "identifier", ABOUT, Said("Please note it.", "I have noted order FO-10213.")
    ),
    last(
        "garbled-id-user",
        "identifier",
        Said("My ticket is TK-509016.", "Thanks, I see ticket TK-509061."),
    ),
    last(
        "changed-days",
        "earlier_answer",
        RETURNS,
        Said("Sure?", "Yes, you can return any unused item within 30 days of delivery."),
    ),
    last(
        "changed-date",
        "earlier_answer",
        Said("When is the webinar?", "The spring webinar takes place on 14 May 2026."),
        Said("When exactly?", "The spring webinar takes place on 16 May 2026."),
    ),
    last(
        "changed-price",
        "earlier_answer",
        Said("What does express delivery cost?", "Express delivery in the EU costs 12.90 EUR."),
        Said("Really?", "Express delivery in the EU costs €15.90."),
    ),
    last(
        "changed-percent",
        "earlier_answer",
        Said("What is the fee?", "The annual management fee is 1.5%."),
        Said("Per year?", "Yes. The annual management fee is 2.5 percent."),
    ),
    last(
        "changed-years",
        "earlier_answer",
        Said("How long is the tent warranty?", "The tent warranty lasts 5 years."),
        Said("OK", "The tent warranty lasts 24 months."),
    ),
    last(
        "changed-de",
        "earlier_answer",
        Said(
            "Wie lange habe ich Zeit?",
            "Sie können jeden unbenutzten Artikel innerhalb von 60 Tagen zurückgeben.",
        ),
        Said(
            "Sicher?",
            "Ja. Sie können jeden unbenutzten Artikel innerhalb von 14 Tagen zurückgeben.",
        ),
    ),
    last(
        "stale-passage",
        "earlier_answer",
        RETURNS,
        Said(
            "Sure?",
            "You can return any unused item within 30 days of delivery.",
            (),
            ("Old policy: return within 30 days of delivery.",),
        ),
    ),
    last(
        "misquoted",
        "user",
        Said("I have 400 points.", "Fine."),
        Said("What are they worth?", "Your 300 points are worth something."),
    ),
    last(
        "misquoted-budget",
        "user",
        Said("My budget is 900 EUR.", "Noted."),
        Said("What fits?", "With your budget and your 700 EUR, the Fjell tent fits."),
    ),
    last(
        "you-said",
        "user",
        Said("We are a group and have 6 people.", "Great."),
        Said("Book it.", "You said 8 people, so I booked a large table."),
    ),
    last(
        "correction",
        "correction",
        Said("Boots in size 41, please.", "Which colour?"),
        Said("Sorry, I meant 43.", "I have put the boots in size 41 into your basket."),
    ),
    last(
        "correction-id",
        "correction",
        Said("It is about order FO-10231.", "Yes?"),
        Said("A typo, I meant FO-10240.", "I will look into order FO-10231."),
    ),
    last(
        "correction-date",
        "correction",
        Said("A table on 3 May.", "For how many?"),
        Said("Actually, make it 5 May.", "Your table is booked for May 3."),
    ),
    last(
        "correction-mail",
        "correction",
        Said("Write to tom.haris@example.com", "Will do."),
        Said("Wrong, it is tom.harris@example.com", "I wrote to tom.haris@example.com."),
    ),
    last(
        "weekday", "weekday", HELLO, Said("When is it?", "The sale starts on Friday, 30 June 2026.")
    ),
    last(
        "user-name",
        "name",
        Said("Hi, my name is Ingrid.", "Hello Ingrid, how can I help?"),
        Said("Where is my parcel?", "Hi Ingmar, it is on its way."),
    ),
    last(
        "own-name",
        "name",
        Said("Hello", "Hello, my name is Ada."),
        Said("Who are you?", "My name is Eve."),
    ),
]

CLEAN = [
    last("all-right", "", ABOUT, BOTH, Said("And the totals?", "FO-10231: 1,299.00 EUR. FO-10240: 89.50 EUR.")),
    last("spellings", "", Said("What is the total?", "The total is €1.299,00.", (ORDER,))),
    last("plain-number", "", Said("What is the total?", "Your total comes to 1299 euros.", (ORDER,))),
    last("date-spelling", "", Said("When?", "It arrives on Thursday, June 18th.", (ORDER,))),
    last("date-spelling-de", "", Said("Wann?", "Es kommt am 18. Juni 2026 an.", (ORDER,))),
    last("date-numeric", "", Said("When?", "It arrives on 18.06.2026.", (ORDER,))),
    last("sum", "", ABOUT, BOTH, Said("Altogether?", "The total of both is 1,388.50 EUR.")),
    last("product", "", Said("Price each?", "Two tents at 649.50 EUR make a total of 1,299.00 EUR.", (ORDER,))),
    last("discount", "", ABOUT, Said("With my 10 % voucher?", "With the voucher the total is 1,169.10 EUR.")),
    last("difference", "", ABOUT, Said("I paid 1,000 EUR already.", "Then the total left to pay is 299 EUR.")),
    last("other-product", "", Said("How long is the warranty on tents?", "The warranty on tents lasts 5 years."), Said("On stoves?", "The warranty on stoves lasts 3 years.")),
    last("other-size", "", Said("Is size 41 there?", "There is 1 pair in size 41."), Said("And 43?", "There are 2 pairs in size 43.")),
    last("other-region", "", Said("Delivery in the EU?", "Standard delivery in the EU takes 3 business days."), Said("To Norway?", "Standard delivery to Norway takes 6 business days.")),
    last("faster-kind", "", Said("How long is shipping?", "Shipping takes 3 days."), Said("Faster?", "Express shipping takes 1 day.")),
    last("clearance", "", RETURNS, Said("And clearance?", "Clearance items can be returned within 14 days of delivery.")),
    last("old-policy", "", RETURNS, Said("A friend says 30 days.", "30 days was the earlier policy; it is 60 days now.")),
    last("denied", "", RETURNS, Said("A friend says 30 days.", "No, you can not return an item within 30 days only: it is 60 days.")),
    last("same-in-months", "", Said("How long is the warranty?", "The tent warranty lasts 24 months."), Said("In years?", "The tent warranty lasts 2 years.")),
    last("range", "", Said("How long is delivery?", "Delivery in the EU takes 3-5 business days."), Said("So?", "Delivery in the EU takes 4 business days.")),
    last("about", "", ABOUT, Said("Roughly?", "The total is about 1,300 EUR.")),
    last("rounded", "", Said("What is the total of FO-10240?", "The total is 90 EUR.", (OTHER,))),
    last("at-least", "", Said("From when is it free?", "Delivery is free for orders of at least 80 EUR."), Said("I see", "Delivery is free for orders of at least 100 EUR outside the EU.")),
    last("new-result", "", Said("Seats?", "There are 4 seats left on SK4707.", (FLIGHT,)), Said("And now?", "There are 2 seats left on SK4707.", (("find_flight", {"to": "Oslo"}, {**FLIGHT[2], "seats_left": 2}),))),
    last("cancelled-since", "", Said("Status of FO-10240?", "Order FO-10240 is processing.", (OTHER,)), Said("Cancel it.", "Order FO-10240 is cancelled.", (("cancel_order", {"order_id": "FO-10240"}, {"ok": True}),))),
    last("cannot-cancel", "", ABOUT, BOTH, Said("Cancel FO-10231.", "FO-10231 cannot be cancelled, only an order that is processing can.")),
    last("condition", "", ABOUT, BOTH, Said("And then?", "Once FO-10240 is shipped you get an e-mail.")),
    last("both-in-one", "", ABOUT, BOTH, Said("States?", "FO-10231 is shipped, FO-10240 is processing.")),
    last("question", "", ABOUT, Said("Refund me.", "Should I refund 500 EUR of the total?")),
    last("new-ticket", "", Said("My ticket is TK-509016.", "Thanks."), Said("Open another.", "I opened ticket TK-191439.", (("create_ticket", {}, {"ticket_id": "TK-191439"}),))),
    last("ids-unrecorded", "", Said("My orders?", "Your orders are FO-10231 and FO-10240.", (("list_orders", {}, None),))),
    last("user-correction-kept", "", Said("Boots in size 41.", "Which colour?"), Said("I meant 43.", "Boots in size 43, then, not 41.")),
    last("addition", "", Said("It is about FO-10231.", "Yes?"), Said("Actually also about FO-10240.", "I start with FO-10231.")),
    last("your-earned", "", Said("I have 400 points.", "Fine."), Said("I got 100 more.", "Your 500 points are worth 25 EUR.")),
    last("your-other-noun", "", Said("I have 2 children.", "Lovely."), Said("A room?", "Your 3 nights are booked.")),
    last("weekday-right", "", HELLO, Said("When?", "The sale starts on Tuesday, 30 June 2026.")),
    last("name-right", "", Said("My name is José.", "Hello Jose!"), Said("Well?", "Thanks, José. It is on its way.")),
    last("name-title", "", Said("This is Ingrid Solberg.", "Hello Ms Solberg."), Said("Well?", "Dear Customer, it is on its way.")),
    last("name-from-tool", "", Said("My name is Bob.", "Hi Bob."), Said("My account?", "Hello Robert, I found it.", (("get_customer", {}, {"name": "Robert Hall"}),))),
    last("thousands", "", Said("How many members?", "The club has 12,000 members in Norway."), Said("Again?", "The club has 12 000 members in Norway.")),
    last("kilo", "", Said("How many followers?", "The page has 12k followers; growth is 3 %."), Said("Growth?", "Growth is 3 percent.")),
    last("version-numbers", "", Said("Python?", "We support Python 3.11."), Said("Newer?", "We support Python 3.12, too.")),
    last("time-of-day", "", Said("When are you open?", "Support is there from 8:00 to 18:00."), Said("Until?", "Support is there until 18:00.")),
    last("phone", "", HELLO, Said("Your number?", "Call +47 55 12 34 56, Monday to Friday.")),
    last("list", "", Said("How?", "1. Open the app.\n2. Tap Returns.\n3. Wait 2 days."), Said("And then?", "1. Pack it.\n2. Send it.")),
    last("no-history", "", Said("Hi", "Order FO-10231 costs 5 EUR.")),
]  # fmt: skip
