"""Wishes that only look something up: prices, stock, parcels, orders, and what was said before.

Each function answers a clause, or returns None where the clause is about something else.
"""

from __future__ import annotations

from typing import Any

import slots
from actions import known_order, told
from clauses import Clause
from desk import Call, Desk
from replies import amount, tell

_ORDER_FACT = (
    r"\bstatus\b|\bleft yet\b|\btotal\b|which (?:size|tent|article|item)|what (?:was|is) in\b"
    r"|what did (?:I|it) (?:pay|cost)|\blook up\b|\bcheck\b|\bsee order\b|\beverything\b"
    r"|\babout order\b"
)


def own_data_only(clause: Clause, _: Desk) -> str | None:
    """Never show one customer what another one bought."""
    if clause.says(r"\bnot my address\b|\bneighbour\b|\bsomeone else\b"):
        return "I cannot show you the orders of another person."
    return None


def whole_number(clause: Clause, _: Desk) -> str | None:
    """Ask again for a number that has too few or too many digits."""
    found = slots.incomplete_number(clause.text)
    if found is None:
        return None
    kind, digits = {"order": ("order", "five"), "parcel": ("tracking", "nine")}[found[1]]
    return f"{found[0]} is not a complete {kind} number: it should have {digits} digits."


def price(clause: Clause, desk: Desk) -> str | None:
    """Convert an amount, or the last price spoken of."""
    target = slots.target_currency(clause.text)
    if target is None:
        return None
    if target == "SEK":
        return "Sorry, I can only convert between EUR, NOK, GBP and USD."
    named = slots.money(clause.text) or slots.money(clause.message)
    source = named[0] if named else _last_price(clause, desk)
    if source is None:
        return None
    if source.currency == target:
        return f"{amount(source.amount)} {target} are {amount(source.amount)} {target}."
    arguments: dict[str, Any] = {"amount": source.amount, "from": source.currency, "to": target}
    return told(desk.call("convert_price", **arguments), clause)


def _last_price(clause: Clause, desk: Desk) -> slots.Money | None:
    for order_id in slots.order_ids(clause.text):
        desk.call("get_order", order_id=order_id)
    call = desk.last("get_order", "check_stock", "cancel_order")
    if call is None or call.result is None:
        return None
    keys = ("total", "price", "returned_payment")
    value = next(call.result[key] for key in keys if key in call.result)
    return slots.Money(value, call.result["currency"])


def stock(clause: Clause, desk: Desk) -> str | None:
    """How many pieces there are, of the sizes named or of the size after the last one."""
    if clause.says(r"^I have\b|\bticket\b"):
        return None
    last = desk.last("check_stock")
    wanted = slots.sizes(clause.text)
    numbers = slots.skus(clause.text)
    if not numbers and (wanted or clause.says(r"\bone size (?:up|larger)")):
        numbers = slots.skus(clause.message) or ([last.arguments["sku"]] if last else [])
        if not wanted and last:
            wanted = [last.arguments.get("size", 0) + 1]
    if not numbers:
        return None
    if any(not 35 <= size <= 49 for size in wanted):
        return "Sorry, we only sell shoes from size 35 to 49."
    calls = [
        desk.call("check_stock", sku=n, size=size) for n in numbers for size in wanted or [None]
    ]
    return _told_all(calls, clause)


def _told_all(calls: list[Call | None], clause: Clause) -> str | None:
    return " ".join(tell(call, clause.language) for call in calls if call) or None


def parcel(clause: Clause, desk: Desk) -> str | None:
    """Where parcels are: by tracking number, or by way of their orders."""
    asks = clause.says(r"\bwhere\b|\btrack\b|\bwo ist\b|\bdónde\b")
    numbers = slots.parcels(clause.text) or (slots.parcels(clause.message) if asks else [])
    if not numbers and asks and clause.says(r"order|parcel|pedido|paket|paquete|bestellung"):
        numbers = _parcels_of_orders(clause, desk)
        if numbers is None:
            return "Could you tell me your order number? It looks like FO-12345."
    return _told_all(
        [desk.call("track_shipment", tracking_number=n) for n in numbers or []], clause
    )


def _parcels_of_orders(clause: Clause, desk: Desk) -> list[str] | None:
    """Tracking numbers of the orders meant; None where no order is known."""
    email = slots.email(clause.text)
    if email:
        desk.call("list_orders", customer_email=email, status=slots.status(clause.text))
        order_ids = [row["order_id"] for row in desk.result("list_orders").get("orders", [])]
    else:
        order_ids = clause.order_ids
    if not order_ids:
        known = known_order(clause, desk)
        order_ids = [known] if known else []
    found = [_order(order_id, desk) for order_id in order_ids]
    numbers = [order["tracking_number"] for order in found if order]
    return [number for number in numbers if number] if order_ids else None


def _order(order_id: str, desk: Desk) -> dict[str, Any] | None:
    """An order, from memory where it was looked up before."""
    for call in reversed(desk.history):
        if call.name == "get_order" and call.result and call.result["order_id"] == order_id:
            return call.result
    call_now = desk.call("get_order", order_id=order_id)
    return call_now.result if call_now else None


def orders(clause: Clause, desk: Desk) -> str | None:
    """A customer's orders; a corrected address repeats the last question."""
    email = slots.email(clause.text)
    if email is None:
        return None
    failed = next((c for c in reversed(desk.past) if c.name == "list_orders" and c.error), None)
    asked = {**(failed.arguments if failed else {}), "customer_email": email}
    limit, status = slots.limit(clause.text), slots.status(clause.text)
    asked |= {"limit": min(limit, 20)} if limit else {}
    asked |= {"status": status} if status else {}
    return told(desk.call("list_orders", **asked), clause)


def order(clause: Clause, desk: Desk) -> str | None:
    """What is known of an order, looked up where it was not yet."""
    named = slots.order_ids(clause.text)
    if not named and clause.says(r"\b(?:that|the other|the first|the) one\b"):
        named = _pointed_at(clause, desk)
    elif not named and clause.says(_ORDER_FACT):
        named = slots.order_ids(clause.message)
    if not named or not (clause.asks or clause.says(_ORDER_FACT)):
        return None
    return _told_all([desk.call("get_order", order_id=order_id) for order_id in named], clause)


def _pointed_at(clause: Clause, desk: Desk) -> list[str]:
    """The order meant by `the first one`, `the other one` or `the one that is processing`."""
    status = slots.status(clause.text)
    rows = desk.result("list_orders").get("orders", [])
    if status and rows:
        return [row["order_id"] for row in rows if row["status"] == status][:1]
    named = [each for text in (*desk.said, clause.message) for each in slots.order_ids(text)]
    seen = {call.arguments.get("order_id") for call in desk.history}
    fresh = [order_id for order_id in named if order_id not in seen]
    return fresh[:1]


_MEMORY = (
    ("refund_order", r"\bamount\b|\bhow much\b|\bcurrency\b"),
    ("create_ticket", r"\bticket\b"),
    ("change_address", r"\bwhich order\b|\btown\b|\baddress did\b"),
    ("check_stock", r"\bhow many\b"),
    ("track_shipment", r"\b(?:when|cuándo|wann)\b.*\b(?:arriv|lleg|ankomm|kommt)"),
    ("get_order", _ORDER_FACT),
)


def recall(clause: Clause, desk: Desk) -> str | None:
    """Answer from what the tools said earlier in the conversation."""
    rows = desk.result("list_orders").get("orders", [])
    if rows and clause.says(r"\bnewest\b"):
        return f"Order {rows[0]['order_id']}: {amount(rows[0]['total'])} {rows[0]['currency']}."
    for name, pattern in _MEMORY:
        call = desk.last(name)
        if call and clause.says(pattern):
            return tell(call, clause.language)
    return None
