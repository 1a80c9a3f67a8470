"""Names of schemas, whichever way a subject was named, and names that Debezium adjusted."""

from __future__ import annotations

import pytest

from metl_gui.registry.schemas.avro import adjusted, is_adjusted, schema_name, unescaped


@pytest.mark.parametrize(
    ("subject", "group", "record", "name"),
    [
        ("my-shop.public.order-items-value", "", "my_shop.public.order_items.Envelope", "my-shop.public.order-items"),
        ("shop.public.orders-key", "", "shop.public.orders.Key", "shop.public.orders"),
        ("shop.public.orders.Envelope", "", "shop.public.orders.Envelope", "shop.public.orders"),
        ("shop.public.orders.Value", "", "shop.public.orders.Value", "shop.public.orders"),
        ("my-shop.public.o-my_shop.public.o.Envelope", "", "my_shop.public.o.Envelope", "my-shop.public.o"),
        ("events-com.shop.Paid", "", "com.shop.Paid", "events-com.shop.Paid"),
        ("Envelope", "shop.public.orders", "shop.public.orders.Envelope", "shop.public.orders"),
        (":.staging:shop.orders-value", "", "Value", "shop.orders"),
        ("", "", "shop.public.orders.Value", "shop.public.orders"),
    ],
)
def test_a_subject_names_the_schema_by_its_topic_or_its_record(
    subject: str, group: str, record: str, name: str
) -> None:
    assert schema_name(subject, group, record) == name


def test_a_name_is_adjusted_as_avro_wants_it() -> None:
    assert adjusted("9-my shop.ü") == "__my_shop._"
    assert unescaped("order_u002did") == "order-id"
    assert is_adjusted("unit_price", "unit-price")
    assert is_adjusted("unit_u002dprice", "unit-price")
    assert not is_adjusted("unit_price", "unit_price")
    assert not is_adjusted("price", "unit-price")
