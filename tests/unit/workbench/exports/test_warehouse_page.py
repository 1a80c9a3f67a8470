"""The page of a warehouse model, read by the parser that reads the page of a mapping."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from metl_gui.core.warehouse_model import Column, Dates, Dimension, Fact, Model, Reference
from metl_gui.errors import EditError, ProjectError
from metl_gui.packaged import resources
from metl_gui.workbench.exports.warehouse_page import MOST_BOXES, warehouse_page, write_warehouse_page
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import set_model
from tests.helpers.odd_names import HOSTILE
from tests.unit.workbench.exports.test_html_page import Reader

PAYER = Dimension(
    name="payer",
    entity="payment",
    business_key=("payer_id",),
    columns=(Column(name="amount", path="amount", history=2),),
)
PAYMENT = Fact(
    name="payment",
    entity="payment",
    grain=("payment_id",),
    references=(
        Reference(dimension="payer", on=(("payer_id", "payer_id"),)),
        Reference(dimension="day", on="event_time", role="booked", time_zone="UTC"),
    ),
    measures=(Column(name="amount", path="amount", type="decimal(12,2)"),),
)
MODEL = Model(name="pay", tables=(PAYER, PAYMENT, Dates(name="day", first="2020-01-01", last="2021-01-01")))


def written(workbench: Workbench, model: Model = MODEL) -> str:
    set_model(workbench, model)
    return "".join(warehouse_page(workbench.document, model))


def test_every_table_stands_on_the_page_and_in_the_picture_and_links_lead_to_it(mapped: Workbench) -> None:
    read = Reader(written(mapped))
    places = {found["id"] for _, found in read.tags if "id" in found}
    links = [str(found["href"]) for tag, found in read.tags if tag == "a"]
    assert {link[1:] for link in links} <= places
    assert links.count("#t1") == 3, "of the list, of the picture, and of the reference"
    assert {"payer_durable_key", "booked_key", "fx.pay.orders", "as of event"} & set(read.words) >= {
        "payer_durable_key",
        "fx.pay.orders",
        "as of event",
    }


def test_names_that_broke_programs_are_words_of_the_page_and_never_markup(mapped: Workbench) -> None:
    names = [name for name in HOSTILE if name.strip() and name.encode("utf-8", "replace").decode() == name]
    columns = tuple(Column(name=name, path=name) for name in names)
    expression = Column(name="x", expression="</script><script>alert(1)</script>")
    odd = tuple(
        Dimension(name=name, entity=name, business_key=(name,), columns=(*columns, expression)) for name in names[:4]
    )
    page = written(mapped, Model(name="<img src=x onerror=alert(1)>", tables=odd))
    read = Reader(page)
    known = "html head meta title style body header h1 h2 h3 div input span button nav a main section p ul li b"
    known += " table thead tr th tbody td bdi svg rect text g path circle footer code script"
    assert {tag for tag, _ in read.tags} <= set(known.split())
    attributes = {name for _, found in read.tags for name in found}
    assert not {name for name in attributes if name.startswith("on") or name == "style"}
    assert {name for name in names if name.isprintable()} <= set(read.words)
    assert page.count("<script>") == 1
    page.encode()


def test_a_page_asks_nothing_of_any_network(mapped: Workbench) -> None:
    page = written(mapped)
    read = Reader(page)
    links = [found[name] for _, found in read.tags for name in ("href", "src", "action", "srcset") if name in found]
    assert all(str(link).startswith("#") for link in links)
    assert "default-src 'none'" in page
    assert "url(" not in page


def test_the_template_writes_nothing_as_it_is_but_the_style_and_the_script() -> None:
    template = (resources() / "pages" / "dictionary.html.jinja").read_text("utf-8")
    assert re.findall(r"\S*\|\s*safe", template) == ["style|safe", "script|safe"]


def test_a_problem_stands_at_its_table_and_in_its_box(mapped: Workbench) -> None:
    broken = Dimension(name="payer", entity="payment", business_key=("gone",))
    page = written(mapped, Model(name="pay", tables=(broken,)))
    assert "The entity payment has no attribute gone." in Reader(page).words
    assert 'class="sign error"' in page
    assert "data-waits" in page


def test_a_box_is_drawn_where_a_person_put_it(mapped: Workbench) -> None:
    set_model(mapped, MODEL)
    page = "".join(warehouse_page(mapped.document, MODEL, {"table:payer": (-4000.0, 120.0)}))
    assert '<rect x="-4000" y="120"' in page
    assert 'viewBox="-4024' in page


def test_a_model_of_too_many_tables_has_no_picture_and_says_so(mapped: Workbench) -> None:
    days = tuple(Dates(name=f"d{n}", first="2020-01-01", last="2020-01-02") for n in range(MOST_BOXES + 1))
    page = written(mapped, Model(name="pay", tables=days))
    assert "<svg" not in page
    assert "too many to draw" in page


def test_what_cannot_be_written_is_refused_and_leaves_nothing(mapped: Workbench, tmp_path: Path) -> None:
    with pytest.raises(EditError, match="There is no warehouse model"):
        write_warehouse_page(mapped.document, tmp_path / "a.html")
    set_model(mapped, MODEL)
    with pytest.raises(ProjectError):
        write_warehouse_page(mapped.document, tmp_path / "none" / "a.html")
    assert list(tmp_path.glob("*.html")) == []
    done = write_warehouse_page(mapped.document, tmp_path / "a.html")
    assert (done.model, done.tables) == ("pay", 3)
    assert (tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")
