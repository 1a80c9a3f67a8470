"""``html``: the mapping as one page that people read with any browser, with nothing beside it and no network.

It has the whole picture, a part for each entity with what feeds it, what waits, the gaps, what people said and what the
words mean; a search; light and dark; and it prints. Names are text whatever they hold, and the page allows no script
but its own. Source: docs/guide/exports.md; docs/guide/mapping.md, "Look" (colours, marks).
"""

from __future__ import annotations

import tomllib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from metl_gui.core.glossary import WORDS
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import Comments
from metl_gui.core.project.masks import hidden_targets
from metl_gui.core.search.gaps import gaps, problems_of
from metl_gui.core.trees.types import is_readable
from metl_gui.packaged import resources
from metl_gui.workbench.exports.blocks import ExportedBlock, carried, counted, day_of, spot_words
from metl_gui.workbench.exports.format_spec import Choices, Export
from metl_gui.workbench.exports.html_parts import (
    MOST_ATTRIBUTES,
    MOST_TILES,
    EntityPart,
    VersionRange,
    entity_parts,
    name,
    near,
    overview,
    text,
)

_MOST_GAPS = 5_000
_FED_BY = 12
_LIMITS = (
    "It is for reading: xlsx, csv and json can be read back, a page cannot.",
    "Attributes of extraction schemas that nothing uses are not listed; blocks show how many there are.",
    f"Blocks of more than {MOST_ATTRIBUTES} attributes on a side have a table and no picture.",
)


def page(document: Document, choices: Choices, watch: Watch) -> Iterator[str]:
    """Yield the page piece by piece."""
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Collecting the mapping"))
    parts = entity_parts(document.cdm, blocks)
    title = choices.beside.project or "Mapping"
    yield from _head(title)
    yield _top(title)
    yield '<div class="page">'
    yield from _navigation(parts)
    yield "<main>"
    yield from _summary(document, choices, blocks, parts)
    for at, part in enumerate(parts):
        watch.step("Writing the entities", at, len(parts))
        yield from _entity(document, part)
    watch.step("Writing what else there is to say")
    yield from _gaps(document)
    yield from _comments(document, choices)
    yield from _glossary()
    yield '<p id="nothing" class="filtered">Nothing on this page has these words. Take one away, or press Escape.</p>'
    yield "<footer><p>What this page does not say:</p><ul class=plain>"
    yield from (f"<li>{text(sentence)}</li>" for sentence in (*_LIMITS, *_says(parts, blocks)))
    yield f"</ul></footer></main></div>\n<script>{_resource('mapping.js')}</script>\n</body>\n</html>\n"


def _head(title: str) -> Iterator[str]:
    style, script = _colours() + _resource("mapping.css"), _resource("mapping.js")
    allowed = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'"
    yield '<!doctype html>\n<html lang="en" class="no-script">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{allowed}; form-action \'none\'">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"


def _top(title: str) -> str:
    search = (
        '<input id="search" type="search" placeholder="Search names, types and words" aria-label="Search" title="/">'
    )
    waiting = '<button id="waiting" type="button" aria-pressed="false">Only what waits</button>'
    look = '<button id="look" type="button">Light or dark: as the system</button>'
    found = '<span id="found" class="dim" role="status"></span>'
    return (
        f'<header class="top"><h1>{name(title)}</h1><div class="tools">{search}{found}{waiting}{look}</div></header>\n'
    )


def _navigation(parts: Sequence[EntityPart]) -> Iterator[str]:
    yield '<nav aria-label="On this page"><h2>Entities</h2>'
    for part in parts:
        waits = f'<span class="pill waits">{part.waits:,} wait</span>' if part.waits else f"{part.elements:,}"
        label = f"<span>{name(part.entity.name)} <span class=dim>{name(part.version.label)}</span></span>"
        yield f'<a href="#e{part.number}">{label}<span class="count">{waits}</span></a>'
    yield '<hr><a href="#gaps"><span>Gaps</span></a><a href="#comments"><span>Comments</span></a>'
    yield '<a href="#glossary"><span>Glossary</span></a></nav>'


def _summary(
    document: Document, choices: Choices, blocks: Sequence[ExportedBlock], parts: Sequence[EntityPart]
) -> Iterator[str]:
    day = day_of(choices.beside.when_ms)
    published = f", published {day} (UTC)" if day else ""
    yield "<section data-whole><h2>The mapping at a glance</h2>"
    yield f'<p class="dim">State {document.state}{published}, hash <code>{state_hash(document)[:16]}</code>.'
    yield (
        " Unconfirmed blocks are shown.</p>" if choices.include_unconfirmed else " Unconfirmed blocks are left out.</p>"
    )
    waits = sum(part.waits for part in parts)
    figures = (
        (len({part.entity.id for part in parts}), "entities", ""),
        (len({block.schema.id for block in blocks}), "schemas that feed them", ""),
        (len(blocks), "blocks", ""),
        (sum(len(block.lines) for block in blocks), "elements", ""),
        (waits, "blocks wait for a decision", ' class="waits"' if waits else ""),
    )
    yield '<ul class="figures">'
    yield from (f"<li{look}><b>{number:,}</b>{words}</li>" for number, words, look in figures)
    yield "</ul>"
    drawn = overview(parts)
    if drawn:
        yield f'<div class="picture">{drawn}</div>{_LEGEND}'
    elif blocks:
        yield f'<p class="dim">More than {MOST_TILES:,} tiles: too many to draw. The tables have them all.</p>'
    yield "</section>\n"


_LEGEND = (
    '<p class="legend"><span class="mark"><i class="mapped"></i>mapped: a number of elements, the darker the more of '
    'what could be</span><span class="mark"><i class="half"></i>mapped, nobody has confirmed it</span>'
    '<span class="mark"><i class="gone"></i>lost, waits for a decision</span>'
    '<span class="mark"><i class="crossed"></i>types differ</span>'
    '<span class="mark"><i class="open"></i>nothing feeds it</span></p>'
)


def _entity(document: Document, part: EntityPart) -> Iterator[str]:
    is_newest = part.version.id == part.entity.version_ids[-1]
    version = f"version {name(part.version.label)}{'' if is_newest else ', not the newest'}"
    told = f"{counted(len(part.version.attributes), 'attribute')}, fed by {counted(len(part.schemas), 'schema')}"
    yield f'<section class="entity" id="e{part.number}" data-part>'
    yield f'<h2>{name(part.entity.name)} <span class="dim">{version}</span></h2><p class="dim">{told}</p>'
    yield from _attributes(document, part)
    for stretch in part.stretches:
        yield from _block(part, stretch)
    yield "</section>\n"


def _attributes(document: Document, part: EntityPart) -> Iterator[str]:
    hidden = hidden_targets(document, part.entity.name, part.version.label)
    fed: dict[int, dict[str, None]] = {}
    for stretch in part.stretches:
        for block in stretch.blocks:
            for line in block.lines:
                fed.setdefault(line.target.id, {})[block.schema.name] = None
    rows = []
    for attribute in part.version.attributes:
        sources = list(fed.get(attribute.id, ()))
        more = f" and {len(sources) - _FED_BY:,} more" if len(sources) > _FED_BY else ""
        from_ = ", ".join(map(name, sources[:_FED_BY])) + more if sources else "nothing"
        flag = "" if sources or attribute.optional else " flag"
        notes = [
            *([] if attribute.optional else ["required"]),
            *(["values masked"] if attribute.path in hidden else []),
        ]
        rows.append(
            f'<tr>{_mark("mapped" if sources else "open")}<td class="path">{name(attribute.path)}</td>'
            f'<td class="type">{name(attribute.type_text)}</td><td class="note{flag}">{", ".join(notes)}</td>'
            f'<td class="name">{from_}</td><td class="said">{text(attribute.doc)}</td></tr>'
        )
    yield '<div class="block" data-block><div class="head"><h3>Attributes</h3></div>'
    yield from _table(("", "attribute", "type", "", "fed by", "what it is"), rows)
    yield "</div>"


def _block(part: EntityPart, stretch: VersionRange) -> Iterator[str]:
    newest = stretch.newest
    kept = newest.block
    waits = " data-waits" if stretch.waits else ""
    look = "waits" if stretch.waits else "confirmed" if not kept.is_unconfirmed else ""
    who = f"by {name(newest.who)} {newest.day}" if newest.who else ""
    yield f'<div class="block" id="b{stretch.number}" data-block{waits}><div class="head">'
    used, known = len({line.source.id for line in newest.lines}), counted(len(newest.version.attributes), "attribute")
    yield f'<h3>{name(newest.schema.name)}</h3><span class="dim">{text(stretch.versions)}</span>'
    yield f'<span class="dim">{used:,} of {known} used</span>'
    yield f'<span class="pill {look}">{text(kept.status.value)}</span>'
    yield f'<span class="dim">production {newest.in_production}</span><span class="dim">{who}</span></div>'
    if kept.comment:
        yield f'<p class="said">{text(kept.comment)}</p>'
    drawn = near(part, stretch)
    yield '<div class="body"><div class="table">'
    rows = [*_element_rows(newest), *_loss_rows(newest)]
    if rows:
        yield from _table(("", "CDM attribute", "from", "type", "note"), rows)
    else:
        yield '<p class="dim">No elements.</p>'
    yield f'</div><div class="near">{drawn}</div></div></div>'


def _element_rows(block: ExportedBlock) -> Iterator[str]:
    for line in block.lines:
        source, target = line.source, line.target
        is_same = is_readable(source, target)
        mark = "crossed" if not is_same else "half" if block.block.is_unconfirmed else "mapped"
        types = name(source.type_text)
        if source.type_text != target.type_text:
            types += f" → {name(target.type_text)}"
        note = "" if is_same else "types differ; values pass unchanged"
        yield _element_row(mark, target.path, source.path, types, note)


def _loss_rows(block: ExportedBlock) -> Iterator[str]:
    for loss in block.block.open_losses:
        yield _element_row("gone", loss.to_path, loss.from_path, "", loss.reason, "lost")


def _element_row(mark: str, to: str, from_: str, types: str, note: str, look: str = "") -> str:
    flag = " flag" if mark == "crossed" else ""
    return (
        f'<tr class="{look}">{_mark(mark)}<td class="path">{name(to)}</td><td class="path">{name(from_)}</td>'
        f'<td class="type">{types}</td><td class="note{flag}">{text(note)}</td></tr>'
    )


_MARKS = {
    "mapped": "mapped",
    "half": "mapped, unconfirmed",
    "gone": "lost",
    "open": "nothing feeds it",
    "crossed": "mapped, types differ",
}


def _mark(kind: str) -> str:
    return f'<td class="mark"><i class="{kind}" role="img" aria-label="{_MARKS[kind]}" title="{_MARKS[kind]}"></i></td>'


def _gaps(document: Document) -> Iterator[str]:
    found = problems_of(gaps(document))
    rows = [
        f'<tr><td class="name">{name(gap.place)}</td><td class="said">{text(gap.message)}</td>'
        f'<td class="said dim">{text(gap.hint)}</td></tr>'
        for gap in islice(found, _MOST_GAPS)
    ]
    more = sum(1 for _ in found)
    yield from _listed(
        "gaps", "Gaps", "What nothing feeds, and what feeds nothing.", ("where", "gap", "what to do"), rows
    )
    if more:
        yield f'<p class="dim" data-whole>And {more:,} more: metl check PROJECT lists them all.</p>'


def _comments(document: Document, choices: Choices) -> Iterator[str]:
    rows = [
        f'<tr><td class="name">{name(spot_words(document, comment))}</td><td class="said">{text(comment.text)}</td>'
        f'<td class="name dim">{name(comment.who)} {day_of(comment.when_ms)}</td></tr>'
        for comment in Comments(document, choices.comments).all
    ]
    yield from _listed("comments", "Comments", "What people said.", ("about", "comment", "who"), rows)


def _glossary() -> Iterator[str]:
    rows = [f"<tr><td><b>{text(word.word)}</b></td><td>{text(word.means)}.</td></tr>" for word in WORDS]
    yield from _listed("glossary", "Glossary", "What the words on this page mean.", ("word", "means"), rows)


def _listed(id_: str, title: str, about: str, heads: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    yield f'<section class="long" id="{id_}" data-part><h2>{title}</h2><p class="dim">{about}</p>'
    yield '<div class="block" data-block><div class="head"></div>'
    if rows:
        yield from _table(heads, rows)
    else:
        yield '<p class="dim">None.</p>'
    yield "</div></section>\n"


def _table(heads: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    yield f"<table><thead><tr>{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead><tbody>"
    yield from rows
    yield "</tbody></table>"


def _colours() -> str:
    """Write the colours of the themes as the variables that the style uses; paper is light."""
    light, dark = (_variables(kind) for kind in ("light", "dark"))
    by_system = f"@media (prefers-color-scheme: dark) {{ :root:not([data-look=light]) {{ {dark} }} }}"
    on_paper = f"@media print {{ :root, :root[data-look=dark], :root:not([data-look=light]) {{ {light} }} }}"
    return f":root {{ {light} }}\n{by_system}\n:root[data-look=dark] {{ {dark} }}\n{on_paper}\n"


def _variables(kind: str) -> str:
    values = tomllib.loads((resources() / "themes" / f"{kind}.toml").read_text("utf-8"))
    colours = " ".join(f"--{key}: {value};" for key, value in values.items() if str(value).startswith("#"))
    return f"color-scheme: {kind}; --ramp: {values['ramp_end']}; {colours}"


def _resource(file: str) -> str:
    return (resources() / "pages" / file).read_text("utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _says(parts: Sequence[EntityPart], blocks: Sequence[ExportedBlock]) -> Iterator[str]:
    if blocks and not overview(parts):
        yield f"The picture of all blocks is left out: it would have more than {MOST_TILES:,} tiles."


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(page(document, choices, watch))
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Looking for what cannot be said"))
    return tuple(_says(entity_parts(document.cdm, blocks), blocks))


HTML = Export("html", "A page that people read with any browser and print", ".html", _write, limits=_LIMITS)
