"""What the bot says about a tool's answer, in English, German and Spanish."""

from __future__ import annotations

from typing import Any

from desk import Call

JsonObject = dict[str, Any]

_ORDER = {
    "en": "Order {order_id} {status}. It holds {items}. Total: {total} {currency}.",
    "de": "Bestellung {order_id} {status}. Inhalt: {items}. Summe: {total} {currency}.",
    "es": "El pedido {order_id} {status}. Contiene: {items}. Total: {total} {currency}.",
}
_ORDER_STATUS = {
    "en": {"processing": "is still being processed", "shipped": "has been shipped",
           "delivered": "has been delivered", "cancelled": "was cancelled",
           "returned": "was returned"},
    "de": {"processing": "ist in Bearbeitung", "shipped": "ist unterwegs",
           "delivered": "wurde zugestellt", "cancelled": "wurde storniert",
           "returned": "wurde zurückgesandt"},
    "es": {"processing": "está en preparación", "shipped": "ha sido enviado",
           "delivered": "ha sido entregado", "cancelled": "fue cancelado",
           "returned": "fue devuelto"},
}  # fmt: skip
_PARCEL = {
    "en": "Parcel {tracking_number} {status}; it was last seen in {last_location}{eta}.",
    "de": "Das Paket {tracking_number} {status}; zuletzt war es in {last_location}{eta}.",
    "es": "El paquete {tracking_number} {status}; su última posición es {last_location}{eta}.",
}
_PARCEL_STATUS = {
    "en": {"in_transit": "is in transit", "delivered": "was delivered", "delayed": "is delayed",
           "lost": "is lost", "out_for_delivery": "is out for delivery"},
    "de": {"in_transit": "ist unterwegs", "delivered": "wurde zugestellt",
           "delayed": "ist verspätet", "lost": "ist verloren gegangen",
           "out_for_delivery": "ist in Zustellung"},
    "es": {"in_transit": "está en camino", "delivered": "fue entregado",
           "delayed": "lleva retraso", "lost": "se ha perdido",
           "out_for_delivery": "está en reparto"},
}  # fmt: skip
_ETA = {
    "en": ", expected on {eta}",
    "de": ", erwartet am {eta}",
    "es": ", llegada prevista el {eta}",
}
_STOCK = {
    "en": "{quantity} of {name} ({sku}{size}) in stock, at {price} {currency}.",
    "de": "{quantity} Stück {name} ({sku}{size}) auf Lager, zu {price} {currency}.",
    "es": "{quantity} unidades de {name} ({sku}{size}) en stock, a {price} {currency}.",
}
_SOLD_OUT = {
    "en": "{name} ({sku}{size}) is sold out until {restock_on}; it costs {price} {currency}.",
    "de": "{name} ({sku}{size}) ist bis {restock_on} ausverkauft; Preis: {price} {currency}.",
    "es": "{name} ({sku}{size}) está agotado hasta el {restock_on}; cuesta {price} {currency}.",
}
_SIZE = {"en": ", size {:g}", "de": ", Größe {:g}", "es": ", talla {:g}"}
_CONVERTED = {
    "en": "{before} {source} are {after} {target}.",
    "de": "{before} {source} sind {after} {target}.",
    "es": "{before} {source} son {after} {target}.",
}
_CANCELLED = {
    "en": "Order {order_id} is cancelled; {total} {currency} will be returned.",
    "de": "Die Bestellung {order_id} ist storniert; {total} {currency} werden zurückgezahlt.",
    "es": "El pedido {order_id} está cancelado; se devolverán {total} {currency}.",
}


def tell(call: Call, language: str) -> str:
    """A sentence on a call's result, or its error as it is."""
    if call.result is None:
        return call.error or ""
    return _TELLERS[call.name](call, call.result, language)


def amount(value: float) -> str:
    """An amount with two decimals."""
    return f"{value:.2f}"


def items(order: JsonObject, language: str) -> str:
    """The articles of an order with their sizes."""
    return ", ".join(
        f"{item['quantity']} x {item['name']}"
        + (f" ({_SIZE[language].format(item['size'])[2:]})" if item["size"] else "")
        for item in order["items"]
    )


def _order(_: Call, order: JsonObject, language: str) -> str:
    return _ORDER[language].format(
        order_id=order["order_id"],
        status=_ORDER_STATUS[language][order["status"]],
        items=items(order, language),
        total=amount(order["total"]),
        currency=order["currency"],
    )


def _orders(_: Call, result: JsonObject, language: str) -> str:
    if not result["orders"]:
        return f"There are no such orders of {result['customer_email']}."
    rows = ", ".join(f"{row['order_id']} ({row['status']})" for row in result["orders"])
    return {"en": "Orders: {}.", "de": "Bestellungen: {}.", "es": "Pedidos: {}."}[language].format(
        rows
    )


def _parcel(_: Call, parcel: JsonObject, language: str) -> str:
    return _PARCEL[language].format(
        tracking_number=parcel["tracking_number"],
        status=_PARCEL_STATUS[language][parcel["status"]],
        last_location=parcel["last_location"],
        eta=expected(parcel, language),
    )


def expected(parcel: JsonObject, language: str) -> str:
    """When a parcel that is not there yet is expected; empty where nobody knows."""
    if parcel["eta"] is None or parcel["status"] == "delivered":
        return ""
    return _ETA[language].format(eta=parcel["eta"])


def _stock(_: Call, stock: JsonObject, language: str) -> str:
    template = _STOCK if stock["quantity"] else _SOLD_OUT
    size = _SIZE[language].format(stock["size"]) if stock["size"] is not None else ""
    return template[language].format(**{**stock, "size": size, "price": amount(stock["price"])})


def _converted(call: Call, result: JsonObject, language: str) -> str:
    return _CONVERTED[language].format(
        before=amount(call.arguments["amount"]),
        source=call.arguments["from"],
        after=amount(result["amount"]),
        target=result["currency"],
    )


def _cancelled(_: Call, result: JsonObject, language: str) -> str:
    return _CANCELLED[language].format(
        order_id=result["order_id"],
        total=amount(result["returned_payment"]),
        currency=result["currency"],
    )


def _refunded(_: Call, result: JsonObject, language: str) -> str:  # noqa: ARG001
    return (
        f"The refund of {amount(result['amount'])} {result['currency']} for order "
        f"{result['order_id']} is on its way; it is paid within "
        f"{result['paid_within_business_days']} business days."
    )


def _readdressed(_: Call, result: JsonObject, language: str) -> str:  # noqa: ARG001
    where = result["address"]
    return (
        f"Order {result['order_id']} will be sent to {where['street']}, {where['postal_code']} "
        f"{where['city']}, {where['country']}."
    )


def _ticket(call: Call, result: JsonObject, language: str) -> str:  # noqa: ARG001
    order = f" for order {call.arguments['order_id']}" if "order_id" in call.arguments else ""
    return (
        f"I opened ticket {result['ticket_id']}{order} with {result['priority']} priority; you get "
        f"an answer within {result['answer_within_hours']} hours."
    )


def _handed_over(_: Call, result: JsonObject, language: str) -> str:  # noqa: ARG001
    return (
        f"I am connecting you to a colleague of the {result['queue']} team; the waiting time is "
        f"about {result['waiting_minutes']} minutes."
    )


_TELLERS = {
    "get_order": _order,
    "list_orders": _orders,
    "track_shipment": _parcel,
    "check_stock": _stock,
    "convert_price": _converted,
    "cancel_order": _cancelled,
    "refund_order": _refunded,
    "change_address": _readdressed,
    "create_ticket": _ticket,
    "transfer_to_human": _handed_over,
}
