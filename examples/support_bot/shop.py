"""The shop behind the support bot: ten tools over small JSON files.

Fjordline Outdoor is fictional. Every answer is a pure function of the arguments and of the files in
`data/`: a refund or a cancellation is confirmed but not stored, so that no case depends on another.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs

DATA = Path(__file__).parent / "data"
JsonObject = dict[str, Any]


class ToolError(Exception):
    """A tool could not do what it was asked; the message may be shown to the customer."""


def _load(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


TOOLS: list[JsonObject] = _load("tools")
_VALIDATORS = {tool["name"]: jsonschema_rs.validator_for(tool["parameters"]) for tool in TOOLS}
_ORDERS: dict[str, JsonObject] = {row["order_id"]: row for row in _load("orders")}
_PRODUCTS: dict[str, JsonObject] = {row["sku"]: row for row in _load("products")}
_CUSTOMERS: dict[str, JsonObject] = {row["email"]: row for row in _load("customers")}
_SHIPMENTS: dict[str, JsonObject] = {row["tracking_number"]: row for row in _load("shipments")}
_RATES: dict[str, float] = _load("rates")


def call(name: str, arguments: Mapping[str, Any]) -> JsonObject:
    """Run one tool.

    Args:
        name: A name in `TOOLS`.
        arguments: Checked against the tool's JSON Schema before anything else happens.

    Returns:
        The tool's result, a fresh JSON object.

    Raises:
        ToolError: The tool is unknown, the arguments break its schema, the order, article, parcel
            or customer does not exist, or the shop's rules forbid the action.
    """
    if name not in _VALIDATORS:
        raise ToolError(f"There is no tool named {name}.")
    error = next(_VALIDATORS[name].iter_errors(dict(arguments)), None)
    if error is not None:
        raise ToolError(f"{name}: {error.message}")
    return _IMPLEMENTATIONS[name](**_python_names(arguments))


def _python_names(arguments: Mapping[str, Any]) -> JsonObject:
    return {"source" if key == "from" else key: value for key, value in arguments.items()}


def _find(table: Mapping[str, JsonObject], key: str, kind: str) -> JsonObject:
    if key not in table:
        raise ToolError(f"There is no {kind} {key}.")
    return table[key]


def get_order(order_id: str) -> JsonObject:
    """One order with its articles' names."""
    order = _find(_ORDERS, order_id, "order")
    items = [{**item, "name": _PRODUCTS[item["sku"]]["name"]} for item in order["items"]]
    return {**order, "items": items}


def list_orders(
    customer_email: str, status: str | None = None, limit: int | None = None
) -> JsonObject:
    """A customer's orders, newest first, without their articles."""
    _find(_CUSTOMERS, customer_email, "customer with the e-mail address")
    orders = [
        {key: row[key] for key in ("order_id", "status", "placed_on", "total", "currency")}
        for row in _ORDERS.values()
        if row["customer_email"] == customer_email and status in (None, row["status"])
    ]
    orders.sort(key=lambda row: (row["placed_on"], row["order_id"]), reverse=True)
    return {
        "customer_email": customer_email,
        "orders": orders[: None if limit is None else int(limit)],
    }


def track_shipment(tracking_number: str) -> JsonObject:
    """Where a parcel is; `eta` is a date, or null for a lost one."""
    return dict(_find(_SHIPMENTS, tracking_number, "parcel"))


def refund_order(
    order_id: str, amount: float, currency: str, reason: str, skus: list[str] | None = None
) -> JsonObject:
    """Refund up to what was paid and not yet refunded."""
    order = _find(_ORDERS, order_id, "order")
    open_amount = round(order["total"] - order["refunded"], 2)
    if order["status"] not in ("delivered", "shipped"):
        raise ToolError(f"Order {order_id} is {order['status']} and cannot be refunded.")
    if order["status"] == "shipped" and not _is_lost(order):
        raise ToolError(f"Order {order_id} is on its way; only a lost parcel can be refunded.")
    if currency != order["currency"]:
        raise ToolError(f"Order {order_id} was paid in {order['currency']}.")
    if amount > open_amount:
        raise ToolError(f"At most {open_amount:.2f} {currency} of {order_id} can be refunded.")
    _require_ordered(order, skus or [])
    return {
        "refund_id": f"RF-{order_id[3:]}",
        "order_id": order_id,
        "amount": amount,
        "currency": currency,
        "reason": reason,
        "paid_within_business_days": 7,
    }


def _is_lost(order: JsonObject) -> bool:
    return bool(_SHIPMENTS[order["tracking_number"]]["status"] == "lost")


def _require_ordered(order: JsonObject, skus: list[str]) -> None:
    ordered = {item["sku"] for item in order["items"]}
    missing = [sku for sku in skus if sku not in ordered]
    if missing:
        raise ToolError(f"Order {order['order_id']} does not contain {', '.join(missing)}.")


def _require_unshipped(order_id: str) -> JsonObject:
    order = _find(_ORDERS, order_id, "order")
    if order["status"] != "processing":
        raise ToolError(f"Order {order_id} is already {order['status']}.")
    return order


def cancel_order(order_id: str, note: str | None = None) -> JsonObject:
    """Cancel an order that is still being packed; the payment is returned in full."""
    order = _require_unshipped(order_id)
    return {
        "order_id": order_id,
        "status": "cancelled",
        "returned_payment": order["total"],
        "currency": order["currency"],
        "note": note,
    }


def change_address(order_id: str, address: JsonObject) -> JsonObject:
    """Send an order that is still being packed to another address in the same country."""
    order = _require_unshipped(order_id)
    if address["country"] != order["country"]:
        raise ToolError("The country cannot be changed; cancel the order and order again.")
    return {"order_id": order_id, "address": dict(address)}


def check_stock(sku: str, size: float | None = None) -> JsonObject:
    """Pieces in stock, of one size or of all; `sizes` lists the sizes that can be had now."""
    product = _find(_PRODUCTS, sku, "article")
    sizes: dict[str, int] = product["sizes"] or {}
    if size is None:
        quantity = sum(sizes.values()) if sizes else product["stock"]
    elif f"{size:g}" in sizes:
        quantity = sizes[f"{size:g}"]
    else:
        raise ToolError(f"{product['name']} ({sku}) is not made in size {size:g}.")
    return {
        "sku": sku,
        "name": product["name"],
        "size": size,
        "quantity": quantity,
        "sizes": [float(key) for key, count in sizes.items() if count],
        "restock_on": None if quantity else product["restock_on"],
        "price": product["price"],
        "currency": product["currency"],
    }


def convert_price(amount: float, source: str, to: str) -> JsonObject:
    """Convert at the fixed shop rate, rounded to cents."""
    converted = round(amount / _RATES[source] * _RATES[to], 2)
    return {"amount": converted, "currency": to, "rate": round(_RATES[to] / _RATES[source], 6)}


def create_ticket(
    subject: str, priority: str, tags: list[str] | None = None, order_id: str | None = None
) -> JsonObject:
    """Open a ticket; its number is a checksum of its content, so that a rerun gives the same."""
    if order_id is not None:
        _find(_ORDERS, order_id, "order")
    content = json.dumps([subject, priority, tags or [], order_id], ensure_ascii=False)
    number = zlib.crc32(content.encode()) % 1_000_000
    hours = {"urgent": 2, "high": 8, "normal": 24, "low": 72}[priority]
    return {"ticket_id": f"TK-{number:06d}", "priority": priority, "answer_within_hours": hours}


def transfer_to_human(reason: str, queue: str) -> JsonObject:
    """Hand over to a person; the waiting time in minutes depends on the queue only."""
    minutes = {"orders": 3, "returns": 5, "technical": 12, "billing": 8}[queue]
    return {"queue": queue, "reason": reason, "waiting_minutes": minutes}


_IMPLEMENTATIONS: dict[str, Callable[..., JsonObject]] = {
    function.__name__: function
    for function in (
        get_order,
        list_orders,
        track_shipment,
        refund_order,
        cancel_order,
        change_address,
        check_stock,
        convert_price,
        create_ticket,
        transfer_to_human,
    )
}
