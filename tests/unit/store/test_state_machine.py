"""The project file against a model: a dict of the parts of every state, and two lists as undo stacks."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from metl_gui.core.changes.draft import Edit, Transition
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.warehouse import RemoveModel, SetModel
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError
from metl_gui.store.edit_log import COMMAND, WINDOW
from metl_gui.store.project_file import ProjectFile
from tests.helpers.histories import KINDS, start, step
from tests.unit.store.contents import Parts, parts
from tests.unit.store.editing import Editing

seeds = st.integers(0, 1 << 30)
kinds = st.sampled_from([*KINDS, "policy", "insert", "undo"])


class Recorded(Editing):
    """Notes the parts of each state as it is made."""

    def __init__(self, project: ProjectFile, states: dict[int, Parts]) -> None:
        super().__init__(project)
        self.states = states

    def do(self, edit: Edit) -> Transition:
        """Commit an edit and note the state."""
        transition = super().do(edit)
        self.states[transition.after.state] = parts(transition.after)
        return transition


class StoreMachine(RuleBasedStateMachine):
    """Edit, undo, redo, close and open in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="metl-"))
        self.path = self.folder / "machine.metl"
        self.project = ProjectFile.create(self.path)
        self.states: dict[int, Parts] = {0: parts(self.project.document())}
        self.world = Recorded(self.project, self.states)
        self.undos: list[int] = []
        self.redos: list[int] = []
        for transition in start().log:
            self.project.commit(transition, COMMAND)
            self.world.document = transition.after
            self.states[transition.after.state] = parts(transition.after)
            self.world.log.append(transition)

    def teardown(self) -> None:
        self.project.close()
        shutil.rmtree(self.folder)

    @rule(kind=kinds, seed=seeds)
    def edit(self, kind: str, seed: int) -> None:
        self.world.door = WINDOW
        if step(self.world, kind, seed):
            self.undos.append(self.world.last_group)
            self.redos.clear()

    @rule(picks=st.lists(st.tuples(kinds, seeds), min_size=2, max_size=4))
    def gesture_of_several_edits(self, picks: list[tuple[str, int]]) -> None:
        self.world.door = WINDOW
        done = 0
        for kind, seed in picks:
            if step(self.world, kind, seed):
                self.world.group = self.world.last_group
                done += 1
        self.world.group = None
        if done:
            self.undos.append(self.world.last_group)
            self.redos.clear()

    @rule(kind=kinds, seed=seeds)
    def command(self, kind: str, seed: int) -> None:
        self.world.door = COMMAND
        step(self.world, kind, seed)

    @rule(name=st.sampled_from("ab"), entities=st.none() | st.lists(st.sampled_from("xyz"), max_size=2).map(tuple))
    def declare(self, name: str, entities: tuple[str, ...] | None) -> None:
        """Set a warehouse model, or remove the one that is just so."""
        model = Model(name=name, entities=entities)
        edit = RemoveModel(name) if self.world.document.model(name) == model else SetModel(model)
        self.world.door = WINDOW
        self.world.do(edit)
        self.undos.append(self.world.last_group)
        self.redos.clear()

    @precondition(lambda self: self.undos)
    @rule()
    def undo(self) -> None:
        self._take_back(self.undos, self.redos, is_undo=False)

    @precondition(lambda self: self.redos)
    @rule()
    def redo(self) -> None:
        self._take_back(self.redos, self.undos, is_undo=True)

    @rule()
    def reopen(self) -> None:
        self.project.close()
        self.project = self.world.project = ProjectFile.open(self.path, for_editing=True)

    @rule(seed=seeds)
    def look_back(self, seed: int) -> None:
        state = self.any_state(seed)
        found = parts(self.project.document(state))
        assert without_ids(found) == without_ids(self.states[state])

    @invariant()
    def the_file_holds_the_newest_state(self) -> None:
        assert parts(self.project.document()) == self.states[self.world.document.state]

    @invariant()
    def the_cursor_stands_where_the_stacks_say(self) -> None:
        undo, redo = self.project.undo_candidate(), self.project.redo_candidate()
        assert (undo.group if undo else None) == (self.undos[-1] if self.undos else None)
        assert (redo.group if redo else None) == (self.redos[-1] if self.redos else None)

    def any_state(self, seed: int) -> int:
        """Choose a state that can be looked at."""
        return seed % (self.world.document.state + 1)

    def _take_back(self, source: list[int], target: list[int], *, is_undo: bool) -> None:
        candidate = self.project.redo_candidate() if is_undo else self.project.undo_candidate()
        assert candidate is not None
        assert candidate.is_undo == is_undo
        self.world.door = WINDOW
        try:
            edit = Revert(self.project.change_of(candidate), candidate.title, is_undo)
            self.world.undoes = candidate.group
            self.world.do(edit)
        except EditError:
            return  # a command changed the same part since
        finally:
            self.world.undoes = None
        source.pop()
        target.append(self.world.last_group)


def without_ids(found: Parts) -> Parts:
    """Leave out the counters, which an earlier state keeps from the newest."""
    return {key: part for key, part in found.items() if key[0] != "ids"}


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
