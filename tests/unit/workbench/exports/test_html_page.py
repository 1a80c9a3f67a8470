"""The mapping as a page: read here by the standard library's parser, as strictly as a browser would."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.progress import UNWATCHED
from metl_gui.core.project.comments import block_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.packaged import resources
from metl_gui.workbench.exports.files import export, export_published
from metl_gui.workbench.exports.format_spec import Choices, ProjectMetadata
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.html_page import page
from metl_gui.workbench.exports.html_parts import MOST_ATTRIBUTES, short, text
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.mapping.todo import NamedMarks, ignore
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_names import HOSTILE
from tests.unit.workbench.conftest import declare, write_table
from tests.unit.workbench.exports.odd_document import odd_document

HTML = EXPORTS["html"]
WHOLE = Choices(include_unconfirmed=True)
_VOID = {"meta", "input", "hr"}


class Reader(HTMLParser):
    """Collects what stands in a page, and refuses tags that do not close in order."""

    def __init__(self, raw: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(raw)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def odd_page() -> str:
    return "".join(page(odd_document(), WHOLE, UNWATCHED))


def test_names_that_broke_programs_are_words_of_the_page_and_never_markup(odd_page: str) -> None:
    read = Reader(odd_page)
    known = "html head meta title style body header h1 h2 h3 div input span button nav a hr main section p ul li b code"
    known += " table thead tr th tbody td bdi i svg pattern rect text g path footer script"
    assert {tag for tag, _ in read.tags} <= set(known.split())
    attributes = {name for _, found in read.tags for name in found}
    assert not {name for name in attributes if name.startswith("on") or name == "style"}
    seen = set(read.words)
    assert {name for name in HOSTILE if name.isprintable()} <= seen
    assert "bell␇" in seen
    assert "<img src=x onerror=alert(1)>" in seen
    odd_page.encode("utf-8")


def _kept(name: str) -> str:
    return (Path(__file__).parents[3] / "cases" / "exports" / name).read_bytes().decode()


def _without_resources(written: str) -> str:
    """Leave out what a page takes from resources as it is, and what names it; the glossary has tests of its own."""
    written = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", written, flags=re.DOTALL)
    written = re.sub(r"'sha256-[^']*'", "'sha256-'", written)
    return re.sub(r'(<section class="long" id="glossary").*?</section>', r"\1></section>", written, flags=re.DOTALL)


def test_a_page_of_hostile_names_is_byte_for_byte_what_it_was(odd_page: str) -> None:
    assert _without_resources(odd_page) == _kept("odd_names.html")


def test_a_page_of_all_that_a_mapping_can_be_is_byte_for_byte_what_it_was(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount:int", "legacy")))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_id")))
    mapped.do(AddVersion(Side.CDM, declare("idle", "1", "nobody")))
    mapped.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_id:int", "amount")))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.wide", "1", "id", *(f"odd{n}" for n in range(MOST_ATTRIBUTES)))))
    import_mapping(mapped, write_table(tmp_path, "fx.wide,1,id,refund,1,refund_id"))
    _set_unconfirmed(mapped, "fx.pay", "idle")
    mapped.add_comment(
        block_subject(mapped.document, next(iter(mapped.document.matrix.blocks())).key), "ask 'em & <us>"
    )
    beside = ProjectMetadata("pay & <co>", when_ms=1_700_000_000_000)
    written = "".join(page(mapped.document, Choices(True, {}, mapped.kept.comments.all(), beside), UNWATCHED))
    assert re.sub(r"tess</bdi> [\d-]{10}", "tess</bdi> DAY", _without_resources(written)) == _kept("mapping.html")


def _set_unconfirmed(mapped: Workbench, schema: str, entity: str) -> None:
    """Map the first attribute of the newest version of a schema to that of an entity's."""
    ends = []
    for side, name in ((Side.EXTRACTION, schema), (Side.CDM, entity)):
        tree = mapped.document.tree(side)
        ends.append(tree.version(next(each for each in tree.schemas() if each.name == name).version_ids[-1]))
    version, entity_version = ends
    element = Element(entity_version.attributes[0].id, version.attributes[0].id)
    mapped.do(SetElements((version.id, entity_version.id), (element,), status=Status.UNCONFIRMED, comment="why <not>"))


def test_a_page_asks_nothing_of_any_network_and_allows_no_script_but_its_own(odd_page: str) -> None:
    read = Reader(odd_page)
    links = [found[name] for _, found in read.tags for name in ("href", "src", "action", "srcset") if name in found]
    assert links
    assert all(str(link).startswith("#") for link in links)
    policy = next(found["content"] for _, found in read.tags if found.get("http-equiv") == "Content-Security-Policy")
    scripts = re.findall(r"<script>(.*?)</script>", odd_page, re.DOTALL)
    assert len(scripts) == 1
    assert b64encode(sha256(scripts[0].encode()).digest()).decode() in str(policy)
    assert str(policy).startswith("default-src 'none'")
    assert "url(" not in re.sub(r"url\(#p", "", odd_page)


def test_templates_write_nothing_as_it_is_but_the_style_and_the_script() -> None:
    folder = resources() / "pages"
    assert re.findall(r"\S*\|\s*safe", (folder / "mapping.html.jinja").read_text("utf-8")) == [
        "style|safe",
        "script|safe",
    ]
    assert "safe" not in (folder / "pictures.svg.jinja").read_text("utf-8")


def test_every_link_leads_to_a_place_on_the_page(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    read = Reader("".join(page(mapped.document, WHOLE, UNWATCHED)))
    places = [found["id"] for _, found in read.tags if "id" in found]
    assert len(set(places)) == len(places)
    assert {str(found["href"])[1:] for tag, found in read.tags if tag == "a"} <= set(places)


def test_versions_that_say_the_same_are_told_once_and_those_that_differ_apart(mapped: Workbench) -> None:
    same = declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "more")
    mapped.do(AddVersion(Side.EXTRACTION, same))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_id", "amount")))
    words = Reader("".join(page(mapped.document, WHOLE, UNWATCHED))).words
    assert words.count("versions 1 to 2 (2)") == 1  # of payment, which lost legacy
    assert words.count("versions 1 to 3 (3)") == 1  # of refund, which did not
    assert words.count("version 3") == 1
    assert "legacy was removed in version 3" in words


def test_what_waits_what_nothing_feeds_and_what_people_said_stand_on_the_page(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(AddVersion(Side.CDM, declare("idle", "1", "nobody")))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    mapped.add_comment(block_subject(mapped.document, next(iter(mapped.document.matrix.blocks())).key), "ask <finance>")
    publish(mapped)
    path = tmp_path / "page.html"
    done = export_published(mapped, HTML, path)
    words = Reader(path.read_text(encoding="utf-8")).words
    assert "ask <finance>" in words
    assert "production sets its messages aside" in words
    assert words.count("idle") >= 2
    assert words.count("nothing") == 1  # all of payment and refund has a source, the one attribute of idle has none
    assert set(done.says) <= set(words)


def test_what_a_page_says_that_it_does_not_say_is_not_there(
    mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = tuple(f"odd{number}" for number in range(MOST_ATTRIBUTES))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.wide", "1", "id", *wide)))
    import_mapping(mapped, write_table(tmp_path, "fx.wide,1,id,refund,1,refund_id"))
    monkeypatch.setattr("metl_gui.workbench.exports.html_parts.MOST_TILES", 2)
    done = export(mapped.document, HTML, tmp_path / "page.html")
    read = Reader((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert not set(wide) & set(read.words)
    assert "1 of 201 attributes used" in read.words
    drawn = {str(found.get("aria-label")) for tag, found in read.tags if tag == "svg"}
    assert drawn == {"4 elements in 4 rows and 4 columns", "2 elements in 2 rows and 4 columns"}
    assert read.words.count("id") == 3  # in the tables of all three blocks
    assert done.says[-1].startswith("The picture of all blocks is left out")
    assert set(done.says) <= set(read.words)


def test_one_published_state_gives_one_page(mapped: Workbench, tmp_path: Path) -> None:
    publish(mapped)
    for name in "ab":
        export_published(mapped, HTML, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_project_without_anything_gives_a_page_that_says_so(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "new.metl") as empty:
        export(empty.document, HTML, tmp_path / "page.html")
    words = Reader((tmp_path / "page.html").read_text(encoding="utf-8")).words
    assert words.count("None.") == 2


def test_texts_are_shown_whatever_they_hold() -> None:
    assert text("a<b>&\"'\0\x7f\ud800\x85").html == "a&lt;b&gt;&amp;&quot;&#x27;␀␡��"
    assert [short("abcdefghij", most) for most in (10, 5, 4)] == ["abcdefghij", "ab…ij", "a…ij"]


def test_a_page_counts_what_is_never_to_be_mapped_beside_the_gaps(mapped: Workbench) -> None:
    assert "never to be mapped" not in "".join(page(mapped.document, Choices(), UNWATCHED))
    ignore(mapped, NamedMarks(("fx.pay.orders.legacy",)), "nobody reads it", unmaps=True)
    written = "".join(page(mapped.document, Choices(), UNWATCHED))
    assert "1 attribute is never to be mapped, and no gap." in written
