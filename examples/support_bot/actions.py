"""Wishes that change something: a person, a ticket, an address, a refund, a cancellation.

Each function answers a clause, or returns None where the clause is about something else.
"""

from __future__ import annotations

from typing import Any

import slots
from clauses import Clause
from desk import Call, Desk
from replies import tell

_ASK_ORDER = "Could you tell me your order number? It looks like FO-12345."


def known_order(clause: Clause, desk: Desk) -> str | None:
    """The order a clause is about: named in the message, else the last one spoken of."""
    if clause.order_ids:
        return clause.order_ids[0]
    for call in reversed(desk.history):
        order_id = call.arguments.get("order_id") or (call.result or {}).get("order_id")
        if order_id:
            return str(order_id)
    earlier = [order_id for text in desk.said for order_id in slots.order_ids(text)]
    return earlier[-1] if earlier else None


def told(call: Call | None, clause: Clause) -> str | None:
    """The reply on a call; None where the tool is not offered."""
    return tell(call, clause.language) if call else None


def person(clause: Clause, desk: Desk) -> str | None:
    """Hand over to a person."""
    if not clause.says(r"\b(?:talk|speak|connect)\b.*\b(?:person|human|colleague)\b"):
        return None
    queue = slots.queue(clause.text)
    return told(desk.call("transfer_to_human", reason=clause.text[:200], queue=queue), clause)


def ticket(clause: Clause, desk: Desk) -> str | None:
    """Open a ticket, or open the last one again with another priority."""
    if not clause.says(r"\b(?:open|create|raise|make)\b.*\bticket\b"):
        return None
    last = desk.last("create_ticket")
    if last and clause.says(r"\bthe ticket\b"):
        changed = {**last.arguments, "priority": slots.priority(clause.text)}
        return told(desk.call("create_ticket", **changed), clause)
    call = desk.call(
        "create_ticket",
        subject=_subject(clause, desk)[:80],
        priority=slots.priority(clause.text) or "normal",
        tags=slots.tags(clause.text) or None,
        order_id=clause.order_ids[0] if clause.order_ids else None,
    )
    return told(call, clause)


def _subject(clause: Clause, desk: Desk) -> str:
    if clause.quotes:
        return clause.quotes[0]
    for mark in (": ", " about "):
        if mark in clause.text:
            subject = clause.text.split(mark, 1)[1].rstrip(".")
            return subject if len(subject.split()) > 3 else _in_full(subject, desk)
    return clause.text


def _in_full(subject: str, desk: Desk) -> str:
    """A short subject with the earlier message that named it, if there is one."""
    word = subject.split()[-1]
    return next((text for text in desk.said if word in text), subject)


def address(clause: Clause, desk: Desk) -> str | None:
    """Send an order to another address."""
    if clause.hands_off:
        return None
    wanted = slots.address(clause.text)
    order_id = known_order(clause, desk)
    if wanted and order_id:
        return told(desk.call("change_address", order_id=order_id, address=wanted), clause)
    if order_id and clause.says(r"\bchange\b.*\baddress\b") and not clause.asks:
        return f"To which street, postal code, city and country should order {order_id} go?"
    return None


def cancel(clause: Clause, desk: Desk) -> str | None:
    """Cancel an order."""
    if clause.hands_off:
        return "All right, I change nothing." if clause.says("forget about|keeping") else None
    if not clause.says(r"\bcancel (?:the |my )?(?:order|it|this)\b|\bstornieren\b"):
        return None
    order_id = _order_of_customer(clause, desk) or known_order(clause, desk)
    if order_id is None:
        return _ASK_ORDER
    note = clause.quotes[0] if clause.quotes else None
    return told(desk.call("cancel_order", order_id=order_id, note=note), clause)


def _order_of_customer(clause: Clause, desk: Desk) -> str | None:
    email, status = slots.email(clause.text), slots.status(clause.text)
    if email is None:
        return None
    listed = desk.call("list_orders", customer_email=email, status=status)
    rows = (listed.result or {}).get("orders", []) if listed else []
    return next((row["order_id"] for row in rows if row["status"] == status), None)


def refund(clause: Clause, desk: Desk) -> str | None:
    """Refund an order, some articles or a sum, once order, sum and reason are known."""
    wish = r"\brefund (?:me|the|order|\d)|\bmoney back\b|\b(?:want|like) (?:a|my) refund"
    asks_only = clause.says(r"^(?:how|when|will|where|what|since|can|do)\b")
    if clause.hands_off or asks_only or not clause.says(wish):
        return None
    order_id, reason = known_order(clause, desk), slots.refund_reason(clause.message)
    if order_id is None:
        return f"{_ASK_ORDER} I also need the amount and what was wrong."
    if reason is None:
        return f"Why would you like a refund of order {order_id}, and of what amount?"
    named = slots.money(clause.text) or slots.money(clause.message)
    skus = slots.skus(clause.message)
    if not named:
        return _refund_articles(clause, desk, order_id, reason)
    if named[0].amount <= 0 or named[0].currency not in ("EUR", "NOK"):
        return "A refund must be more than zero, and it is paid in EUR or NOK, as you paid."
    call = desk.call(
        "refund_order",
        order_id=order_id,
        amount=named[0].amount,
        currency=named[0].currency,
        reason=reason,
        skus=skus or None,
    )
    return told(call, clause)


def _refund_articles(clause: Clause, desk: Desk, order_id: str, reason: str) -> str | None:
    found = desk.call("get_order", order_id=order_id)
    if found is None or found.result is None:
        return told(found, clause)
    order: dict[str, Any] = found.result
    only = [item for item in order["items"] if _is_named(item, clause.message)]
    if clause.says(r"\b(?:whole|full|all|everything)\b"):
        amount, skus = round(order["total"] - order["refunded"], 2), None
    elif only:
        amount = sum(item["unit_price"] * item["quantity"] for item in only)
        skus = [item["sku"] for item in only]
    else:
        return f"Which amount of order {order_id} should be refunded?"
    call = desk.call(
        "refund_order",
        order_id=order_id,
        amount=amount,
        currency=order["currency"],
        reason=reason,
        skus=skus,
    )
    return told(call, clause)


def _is_named(item: dict[str, Any], message: str) -> bool:
    return item["sku"] in message or str(item["name"]).split()[-1] in message.split()
