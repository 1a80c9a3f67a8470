"""What people said beside the mapping: comments, who is to decide, and what they refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple

from metl_gui.core.changes.draft import EditContext, Transition
from metl_gui.core.project.assignments import Assignment, AssignmentKey
from metl_gui.core.project.comments import Comment, CommentSubject, Spot
from metl_gui.core.project.refusals import RefusedRename, RefusedRenames, RefusedSuggestion
from metl_gui.core.review.assignees import moved_keys
from metl_gui.core.trees.nodes import Side
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.values import Value

_NOWHERE = (0, 0, 0, 0)


class CommentRepository(Value):
    """Comments on schemas, entities, attributes, elements and blocks."""

    sessions: Sessions

    def add(self, subject: CommentSubject, text: str, stamp: EditContext) -> int:
        """Write a comment down.

        Returns:
            Its id, which is never used again.
        """
        with self.sessions.editing() as connection:
            ends = (*_columns(subject.source), *_columns(subject.target))
            cursor = connection.execute(
                "INSERT INTO comments (source_schema, source_version, source_attribute, source_lineage,"
                " target_schema, target_version, target_attribute, target_lineage, text, who, when_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*ends, text, stamp.who, stamp.when_ms),
            )
            return int(cursor.lastrowid or 0)

    def remove(self, comment_id: int) -> bool:
        """Remove a comment; whether there was one."""
        with self.sessions.editing() as connection:
            return connection.execute("DELETE FROM comments WHERE id = ?", (comment_id,)).rowcount > 0

    def all(self) -> tuple[Comment, ...]:
        """Read all comments, the oldest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT id, text, who, when_ms, source_schema, source_version, source_attribute, source_lineage,"
                " target_schema, target_version, target_attribute, target_lineage FROM comments ORDER BY when_ms, id"
            )
            return tuple(Comment(row[0], CommentSubject(_spot(row[4:8]), _spot(row[8:12])), *row[1:4]) for row in rows)


class AssignmentRepository(Value):
    """Who is to decide on review items."""

    sessions: Sessions

    def assign(self, keys: Iterable[AssignmentKey], assignee: str, stamp: EditContext) -> None:
        """Say who is to decide on some items. An empty name takes what was said away."""
        with self.sessions.editing() as connection:
            wanted = list(keys)
            if not assignee:
                connection.executemany(
                    "DELETE FROM assignments WHERE schema_id = ? AND entity_id = ? AND version = ?", wanted
                )
                return
            connection.executemany(
                "INSERT OR REPLACE INTO assignments (schema_id, entity_id, version, assignee, who, when_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(*key, assignee, stamp.who, stamp.when_ms) for key in wanted],
            )

    def follow(self, transition: Transition) -> None:
        """Let assignments go along with items whose beginning an edit moves.

        What an item was known by before stays too: some of it may begin there still.
        """
        with self.sessions.editing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO assignments (schema_id, entity_id, version, assignee, who, when_ms)"
                " SELECT schema_id, entity_id, ?, assignee, who, when_ms FROM assignments"
                " WHERE schema_id = ? AND entity_id = ? AND version = ?",
                [(new[2], *old) for old, new in moved_keys(transition).items()],
            )

    def all(self) -> tuple[Assignment, ...]:
        """Read all assignments, the newest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT schema_id, entity_id, version, assignee, who, when_ms FROM assignments"
                " ORDER BY when_ms DESC, schema_id, entity_id, version"
            )
            return tuple(Assignment((schema, entity, version), *rest) for schema, entity, version, *rest in rows)


class RefusedSuggestionRepository(Value):
    """Suggestions that a person refused: they are not made again until they are restored."""

    sessions: Sessions

    def add(self, refusals: Iterable[RefusedSuggestion], stamp: EditContext) -> None:
        """Remember refusals. One that is known already keeps who made it first."""
        with self.sessions.editing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO refused_suggestions"
                " (schema_id, p_lineage, entity_id, q_lineage, from_path, to_path, who, when_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*astuple(refusal), stamp.who, stamp.when_ms) for refusal in refusals],
            )

    def remove(self, refusals: Iterable[RefusedSuggestion]) -> None:
        """Forget refusals."""
        with self.sessions.editing() as connection:
            connection.executemany(
                "DELETE FROM refused_suggestions"
                " WHERE schema_id = ? AND p_lineage = ? AND entity_id = ? AND q_lineage = ?",
                [(r.schema_id, r.p_lineage, r.entity_id, r.q_lineage) for r in refusals],
            )

    def all(self) -> tuple[RefusedSuggestion, ...]:
        """Read all refusals, the newest first."""
        return tuple(refusal for refusal, _ in self.stamped())

    def stamped(self) -> tuple[tuple[RefusedSuggestion, EditContext], ...]:
        """Read all refusals with who made them and when, the newest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT schema_id, p_lineage, entity_id, q_lineage, from_path, to_path, who, when_ms"
                " FROM refused_suggestions ORDER BY when_ms DESC, schema_id, p_lineage, entity_id, q_lineage"
            )
            return tuple((RefusedSuggestion(*refusal), EditContext(who, when_ms)) for *refusal, who, when_ms in rows)


class RefusedRenameRepository(Value):
    """Rename proposals that a person refused: they are not made again until they are restored."""

    sessions: Sessions

    def add(self, refused: Iterable[RefusedRename], stamp: EditContext) -> None:
        """Remember refused rename proposals. The newest says which lineages they are."""
        with self.sessions.editing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO refused_renames"
                " (side, schema_id, lost, candidate, lost_lineage, candidate_lineage, who, when_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*astuple(one), stamp.who, stamp.when_ms) for one in refused],
            )

    def remove(self, refused: Iterable[RefusedRename]) -> None:
        """Forget refused rename proposals."""
        with self.sessions.editing() as connection:
            connection.executemany(
                "DELETE FROM refused_renames WHERE side = ? AND schema_id = ? AND lost = ? AND candidate = ?",
                [(one.side, one.schema_id, one.lost, one.candidate) for one in refused],
            )

    def all(self) -> RefusedRenames:
        """Read the refused rename proposals, the newest first."""
        return RefusedRenames(tuple(refused for refused, _ in self.stamped()))

    def stamped(self) -> tuple[tuple[RefusedRename, EditContext], ...]:
        """Read the refused rename proposals with who refused them and when, the newest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT side, schema_id, lost, candidate, lost_lineage, candidate_lineage, who, when_ms"
                " FROM refused_renames ORDER BY when_ms DESC, side, schema_id, lost, candidate"
            )
            return tuple(
                (RefusedRename(Side(side), *rest), EditContext(who, when_ms)) for side, *rest, who, when_ms in rows
            )


def _columns(spot: Spot | None) -> tuple[int, int, int, int]:
    return _NOWHERE if spot is None else (spot.schema, spot.version, spot.attribute, spot.lineage)


def _spot(columns: tuple[int, int, int, int]) -> Spot | None:
    return Spot(*columns) if columns[0] else None
