"""A small registry over HTTP with Confluent's API and Apicurio's third: what it holds is a dictionary of a test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.helpers.web_servers import Answer, Asked


@dataclass
class SmallRegistry:
    """What it holds.

    Args:
        subjects: by name the versions, each ``{"schema": ..., "schemaType"?, "references"?, "state"?}``.
        wrong: answers that stand in for those of some paths.
    """

    subjects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    wrong: dict[str, Answer] = field(default_factory=dict)

    def add(self, subject: str, schema: object, **more: Any) -> None:
        """Register a version."""
        numbers = sum(len(versions) for versions in self.subjects.values()) + 1
        made = {"schema": schema if isinstance(schema, str) else json.dumps(schema), "id": numbers, **more}
        self.subjects.setdefault(subject, []).append(made)

    def confluent(self, asked: Asked) -> Any:
        """Answer as Confluent's API does."""
        parts = [unquote(part) for part in asked.path.strip("/").split("/")]
        if asked.path in self.wrong:
            return self.wrong[asked.path]
        match parts:
            case ["subjects"]:
                return list(self.subjects)
            case ["subjects", subject, "versions"] if subject in self.subjects:
                return list(range(1, len(self.subjects[subject]) + 1))
            case ["subjects", subject, "versions", number] if subject in self.subjects:
                return {"subject": subject, "version": int(number), **self.subjects[subject][int(number) - 1]}
            case ["schemas", "ids", number]:
                return next((dict(one) for _, _, one in self._all() if one["id"] == int(number)), None)
            case ["schemas", "ids", number, "versions"]:
                return [{"subject": s, "version": v} for s, v, one in self._all() if one["id"] == int(number)]
            case _:
                return None

    def apicurio(self, asked: Asked) -> Any:
        """Answer as Apicurio's third API does, below ``/apis/registry/v3``."""
        path = asked.path.removeprefix("/apis/registry/v3")
        if path in self.wrong or path == asked.path:
            return self.wrong.get(path)
        parts = [unquote(part) for part in path.strip("/").split("/")]
        match parts:
            case ["system", "info"]:
                return {"name": "A small one", "version": "3"}
            case ["search", "artifacts"]:
                listed = [
                    {"artifactId": name, "artifactType": self._kind(ones[-1])} for name, ones in self.subjects.items()
                ]
                return self._page("artifacts", listed, asked)
            case ["search", "versions"]:
                newest = sorted(self._all(), key=lambda one: -one[2]["id"])
                wanted = asked.words.get("contentId", asked.words.get("globalId"))
                listed = [self._listed(*one) for one in newest if wanted in (None, str(one[2]["id"]))]
                return self._page("versions", listed, asked)
            case ["ids", "contentIds", number, *what]:
                one = next((dict(one) for _, _, one in self._all() if one["id"] == int(number)), None)
                return one and (one.get("references", []) if what else Answer(one["schema"].encode()))
            case ["groups", _, "artifacts", name, "versions"] if name in self.subjects:
                own = [self._listed(*one) for one in self._all() if one[0] == name]
                return self._page("versions", own[::-1], asked)
            case ["groups", _, "artifacts", name, "versions", label, what] if name in self.subjects:
                one = self.subjects[name][int(label) - 1]
                return Answer(one["schema"].encode()) if what == "content" else one.get("references", [])
            case _:
                return None

    def _all(self) -> list[tuple[str, int, dict[str, Any]]]:
        return [(name, at, one) for name, ones in self.subjects.items() for at, one in enumerate(ones, 1)]

    def _kind(self, one: dict[str, Any]) -> str:
        return str(one.get("schemaType", "AVRO"))

    def _listed(self, name: str, label: int, one: dict[str, Any]) -> dict[str, Any]:
        facts = {"artifactId": name, "version": str(label), "globalId": one["id"], "contentId": one["id"]}
        changed = {"modifiedOn": f"2026-01-01T00:{one['id'] // 60:02}:{one['id'] % 60:02}Z"}
        return {**facts, **changed, "artifactType": self._kind(one), "state": one.get("state", "ENABLED")}

    def _page(self, member: str, listed: list[Any], asked: Asked) -> dict[str, Any]:
        begin = int(asked.words.get("offset", "0"))
        return {member: listed[begin : begin + int(asked.words.get("limit", "20"))], "count": len(listed)}


def record(name: str, *fields: str, namespace: str = "") -> dict[str, Any]:
    """Return an Avro record; a field is ``name`` of a string or ``name:Type``."""
    listed = [{"name": one.partition(":")[0], "type": one.partition(":")[2] or "string"} for one in fields]
    return {"type": "record", "name": name, "fields": listed, **({"namespace": namespace} if namespace else {})}
