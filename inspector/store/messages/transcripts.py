"""Resolves facts of transcripts in reading order: sub-agents, their names, sessions, repeated messages.

A record names its sub-agent by the sub-agent's own id, by its predecessor only, or not at all. The call that started it
lies elsewhere. Everything is resolved here in reading order, before the capture appends the columns. The key of a
sub-agent's context is its own id, else the id of its call, else the id of its first record.

RULE: a record whose context is its session belongs to a thread. The first session of a file is its main context, and
other threads are sub-contexts of it. An answer without a thread belongs to that of its question.

RULE: a call and a sub-agent belong together if a record says so. Otherwise they do if the sub-agent's prompt equals,
word for word, the prompt of an earlier call without another sub-agent. A sub-agent that is known by its type alone
belongs to the call of that type without another sub-agent, if there is only one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.formats import registry
from inspector.formats.table import (
    CONTINUED_CONVERSATIONS,
    LACKING_RESULTS,
    LONE_ANSWERS,
    NAMED_CONVERSATIONS,
    SESSION_FILES,
    SESSION_NAMING,
    TRACE_NAMES,
)
from inspector.protocol import kinds
from inspector.protocol.derived_messages import Chain, Spawn
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, first_rows, hash_text
from inspector.store.messages.row_participants import participants_of
from inspector.store.messages.shown_names import shown_names
from inspector.store.messages.thread_files import Threads

_MAX_WHOLE_ID, _ID_END_LENGTH = 20, 8
"""Longest sub-agent id shown whole, in characters; of a longer one, length of the shown end."""
_MAX_TYPE_LENGTH = 120
_PERSON_KINDS = (kinds.PROPOSAL, kinds.RESPONSE, kinds.REJECT)
"""Kinds in which `user` is the person also in a sub-agent's context; in others it is the calling agent."""
SERVER_PREFIX = "mcp:"
"""Prefix of the participant name of an MCP server."""


@dataclass(slots=True)
class SubAgent:
    """A sub-agent, as far as known.

    Attributes:
        context: the key of its context, as in the column.
        call: the id of the call that started it, if known.
        parent: the context key of the calling agent; None for the main one.
        label: its task in a few words, if any.
        type: the type of agent.
        name: the sender of its messages, as in filters; "" until the first one. Views show `Transcripts.shown_name`.
        parent_name: the sub-agent that assigns its task; "".
        is_agent: False for other units with the same form, as a span that contains others.
    """

    context: str
    call: str | None = None
    parent: str | None = None
    label: str | None = None
    type: str | None = None
    name: str = ""
    parent_name: str = ""
    is_agent: bool = True


@dataclass(frozen=True, slots=True)
class AgentNews:
    """News about a sub-agent.

    Attributes:
        context: the key of its context.
        parent, label: as `SubAgent`, as far as known by then.
        row: the message with the news.
        space: string id.
        has_begun: it is the sub-agent's first message, or a call known to have started it.
        has_ended: it is the sub-agent's outcome.
    """

    context: str
    parent: str | None
    label: str | None
    row: int
    space: int = 0
    has_begun: bool = False
    has_ended: bool = False
    failed: bool = False


class Transcripts:
    """Resolves the open facts of transcript records, block by block.

    Attributes:
        agents: sub-agents by the key of their context.
        result_spaces: the spaces of traces and conversations that record results of tools, or could: those with a span
            of a tool, with a message that is not the model's, or with a result.
    """

    def __init__(self) -> None:
        self.agents: dict[str, SubAgent] = {}
        self.result_spaces: set[str] = set()
        self._by_call: dict[str, SubAgent] = {}
        self._by_call_hash: dict[int, SubAgent] = {}  # the same by hash of the call's id
        self._calls: dict[str, Spawn] = {}  # calls that start sub-agents, by id
        self._prompts: dict[int, deque[str]] = {}  # calls by the prompt they give a sub-agent
        self._chains: dict[int, str] = {}  # context key by record
        self._sessions: dict[int, str] = {}  # by source
        self._paths: list[Path] = []  # by source
        self._files_of: dict[int, str] = {}  # by source, the sub-agent that owns the file
        self._content_index = HashIndex()
        self._origins = HashIndex()
        self._echoes: dict[int, int] = {}  # row by last text of a sub-agent's context, or by its result
        self._conversations: dict[int, str] = {}  # by source, conversation of the last model request
        self._servers: dict[int, str] = {}  # called servers by hash of the call's id
        self._news: list[AgentNews] = []  # of the last block, by place in it
        self._threads = Threads()
        self._histories: dict[int, set[int]] = {}  # by source, hashes of the message ids in its history
        self._asked_in: dict[int, dict[int, str]] = {}  # by source, threads by hash of an open question's id
        self._thread_contexts: set[str] = set()  # threads beside the main one of their source
        self._named: list[SubAgent] = []  # in order of start
        self._shown: dict[str, str] = {}  # shown names by name; built on demand

    def add_source(self, path: Path) -> None:
        """Adds the path of the next source."""
        self._paths.append(path)

    def use_session(self, source: int, session: str) -> None:
        """Assigns all records of a source to a session, whatever they name."""
        self._sessions[source] = session

    def use_agent(self, source: int, agent: str) -> None:
        """Assigns records of a source without a sub-agent to this one."""
        self._files_of[source] = agent

    def add_agent_facts(
        self, context: str, call: str | None, parent: str | None, label: str | None, type_: str | None
    ) -> None:
        """Adds facts from a file beside a sub-agent's own."""
        agent = self._agent_for(context)
        agent.call, agent.parent = agent.call or call, agent.parent or parent
        agent.label, agent.type = agent.label or label, agent.type or type_
        self._shown.clear()
        if call is not None:
            self._add_call(call, agent)

    def started_by(self, call: str) -> SubAgent | None:
        """Returns the sub-agent started by a call id."""
        return self._by_call.get(call)

    def started_by_hashes(self, calls: NDArray[np.uint64]) -> list[SubAgent]:
        """Returns the sub-agents started by calls, from unsalted hashes of their ids. O(calls)."""
        return [self._by_call_hash[one] for one in self._by_call_hash.keys() & set(calls.tolist())]

    # Before a block is appended

    def resolve_block(self, block: Block) -> None:
        """Completes the columns of a block: space, context, sender, recipients, and a sub-agent's origin."""
        derived = np.flatnonzero(block.columns["part"])
        self._news.clear()
        self._shown.clear()
        formats = block.columns["protocol"]
        for label in NAMED_CONVERSATIONS:
            code = block.strings.find(label)
            if not code:
                continue
            own = derived[formats[derived] == code]
            if label in CONTINUED_CONVERSATIONS:
                self._continue_conversations(block, own)
            if label in LONE_ANSWERS:
                model = block.strings.find(LONE_ANSWERS[label]) or -1
                self._add_result_spaces(block, own[block.columns["sender"][own] != model])
            derived = derived[formats[derived] != code]
        for label in TRACE_NAMES:
            code = block.strings.find(label)
            if code:
                self._place_spans(block, derived[formats[derived] == code])
                derived = derived[formats[derived] != code]
        if not len(derived):
            return
        # Histories first, since they may change the sender of a message.
        self._follow_histories(block)
        self._follow_threads(block, derived)
        naming = (*SESSION_NAMING, *(one.name for one in registry.registered() if one.names_sessions))
        own_sessions = np.isin(formats[derived], [block.strings.find(label) or -1 for label in naming])
        # After threads, which name their sessions better.
        self._fill_spaces(block, derived[~own_sessions])
        self._answer_for_servers(block, derived)
        extracts = block.extracts
        contexts = block.columns["context"]
        inside = derived[contexts[derived] != 0]
        first = inside[np.unique(contexts[inside], return_index=True)[1]].tolist()
        # In record order, as a chain may depend on a spawn before it.
        for place in sorted({*extracts.spawns, *extracts.chains, *first}):
            chain, spawn = extracts.chains.get(place), extracts.spawns.get(place)
            if chain is not None:
                self._assign_by_chain(block, place, chain)
            if spawn is not None:
                self._apply_spawn(block, place, spawn)
            if contexts[place]:
                self._name_of(self._agent_for(block.strings[int(contexts[place])]))
        self._name_threads(block, inside)
        self._name_all(block, derived)
        for label in LACKING_RESULTS:
            results = formats[derived] == (block.strings.find(label) or -1)
            results &= block.columns["kind"][derived] == (block.strings.find(kinds.RESPONSE) or -1)
            self._add_result_spaces(block, derived[results])

    def _name_threads(self, block: Block, inside: NDArray[np.int64]) -> None:
        """Names the speakers of threads that an agent started; other threads are no sub-agents."""
        contexts = block.columns["context"]
        for code in np.unique(contexts[inside]).tolist() if self._thread_contexts else ():
            if (context := block.strings[code]) in self._thread_contexts:
                agent = self._agent_for(context)
                agent.is_agent = bool(agent.call or agent.type)
                if agent.is_agent:
                    self._rename_speakers(block, inside[contexts[inside] == code], context)

    def _continue_conversations(self, block: Block, rows: NDArray[np.int64]) -> None:
        """Assigns a model's answer to the conversation of the last request."""
        columns, strings = block.columns, block.strings
        spaces, sources = columns["space"], columns["source"]
        for source in np.unique(sources[rows]).tolist():
            own = rows[sources[rows] == source]
            last = self._conversations.get(source)
            before = strings.intern(last) if last is not None else 0
            # `maximum.accumulate` carries the last named row forward.
            named = np.where(spaces[own] != 0, np.arange(1, len(own) + 1), 0)
            latest = np.maximum.accumulate(named)
            spaces[own] = np.where(latest > 0, spaces[own[np.maximum(latest - 1, 0)]], before)
            if latest[-1]:
                self._conversations[source] = strings[int(spaces[own[-1]])]

    def _add_result_spaces(self, block: Block, rows: NDArray[np.int64]) -> None:
        codes = np.unique(block.columns["space"][rows]).tolist()
        self.result_spaces.update(block.strings[code] for code in codes)

    def _place_spans(self, block: Block, rows: NDArray[np.int64]) -> None:
        """Adds trace spans with their nesting; outer spans may come after inner ones."""
        own = block.columns["flags"][rows] & np.uint32(Flag.OWN_SPAN.value) != 0
        self._add_result_spaces(block, rows[own])
        # A span's parent may be in an earlier record, so each is placed alone.
        for place in rows[np.isin(rows, [*block.extracts.spawns])].tolist():
            told: list[Spawn] = []
            spawn: Spawn | None = block.extracts.spawns[place]
            while spawn is not None:
                told.append(spawn)
                spawn = spawn.next_spawn
            for one in reversed(told):  # beginnings before ends
                if one.agent is not None:
                    self._place_span(one, one.agent, place)

    def _place_span(self, spawn: Spawn, identifier: str, place: int) -> None:
        span = self._agent_for(identifier)
        span.parent, span.label, span.type = (
            span.parent or spawn.parent,
            span.label or spawn.label,
            spawn.type or span.type,
        )
        span.is_agent = span.type == "agent" and span.parent is not None
        self._add_news(span, place, began=not spawn.has_ended, ended=spawn.has_ended, failed=spawn.has_failed)

    def _answer_for_servers(self, block: Block, rows: NDArray[np.int64]) -> None:
        """Sets the server as sender of its tools' results, since a result does not name it."""
        columns, strings = block.columns, block.strings
        kinds_of, sets = columns["kind"][rows], columns["to_set"][rows]
        for to in np.unique(sets[kinds_of == (strings.find(kinds.REQUEST) or -1)]).tolist():
            names = block.to_sets[to]
            if len(names) == 1 and names[0].startswith(SERVER_PREFIX):
                asked = columns["id_hash"][rows[sets == to]].tolist()
                self._servers.update(dict.fromkeys(asked, names[0]))
        if not self._servers:
            return
        answers = rows[kinds_of == (strings.find(kinds.RESPONSE) or -1)]
        for place, named in zip(answers.tolist(), columns["correlation_hash"][answers].tolist(), strict=True):
            # Popped, as each call has one result.
            server = self._servers.pop(named, None)
            if server is not None:
                columns["sender"][place] = strings.intern(server)

    def _follow_histories(self, block: Block) -> None:
        """Separates compressed histories from grown ones; a grown one is text added by the program."""
        columns = block.columns
        for place, told in sorted(block.extracts.histories.items()):
            known = self._histories.setdefault(int(columns["source"][place]), set())
            if told.identifier is not None:
                known.add(hash_text(told.identifier))
                continue
            rewritten = set(map(hash_text, told.rewritten))
            # Equal in number, but partly different: the program has replaced some messages.
            replaced = len(rewritten) == len(known) and 0 < len(rewritten & known) < len(known)
            if len(rewritten) >= len(known) and not replaced:
                columns["kind"][place] = columns["kind_raw"][place] = block.strings.intern("chat")
                told_by = participants_of(block, [place])
                if told_by is not None:
                    columns["sender"][place] = block.strings.intern(told_by.program)
                    columns["to_set"][place] = block.to_sets.intern((told_by.agent,))
            self._histories[int(columns["source"][place])] = rewritten

    def _follow_threads(self, block: Block, derived: NDArray[np.int64]) -> None:
        """Assigns thread files to sessions and adds their sub-agents."""
        for found in self._threads.resolve_block(block, derived):
            thread = found.thread
            if thread.space:  # a thread read from its middle has not told it yet
                self._sessions.setdefault(thread.source, thread.space)
            if thread.parent is None:
                continue
            known = thread.identifier in self.agents
            # A sub-agent's file may be read before its parent's.
            parent = thread.parent if thread.parent in self.agents else None
            self.add_agent_facts(thread.identifier, None, parent, thread.label, thread.agent_type)
            agent = self.agents[thread.identifier]
            began = found.prompts or ([] if known else [int(found.rows[0])])
            for place in began:
                self._add_news(agent, place, began=True)
            for place in found.ends:
                self._add_news(agent, place, ended=True)

    def _fill_spaces(self, block: Block, derived: NDArray[np.int64]) -> None:
        """Gives all records of a file one session: some name none, copied ones name another file's."""
        columns, strings = block.columns, block.strings
        for source in np.unique(columns["source"][derived]).tolist():
            rows = derived[columns["source"][derived] == source]
            # The first named session counts; later ones come from copied history.
            if source not in self._sessions:
                named = columns["space"][rows]
                first = named[named != 0]
                if not len(first):
                    continue
                self._sessions[source] = self._session_of_file(source, strings[int(first[0])])
            space = strings.intern(self._sessions[source])
            self._separate_threads(block, source, rows, space)
            columns["space"][rows] = space
            if source in self._files_of:
                self._assign_to_agent(block, rows, self._files_of[source])

    def _session_of_file(self, source: int, named: str) -> str:
        """Returns the session of a source: of files without ids, beside others, the end of the path that is its own."""
        if named not in SESSION_FILES or source >= len(self._paths) or len(self._paths) < 2:
            return named
        path, taken = self._paths[source], set(self._sessions.values())
        ends = ("/".join(path.parts[-count:]) for count in range(1, len(path.parts) + 1))
        return next((end for end in ends if end not in taken), str(path))

    def _separate_threads(self, block: Block, source: int, rows: NDArray[np.int64], main: int) -> None:
        """Moves threads other than the main one into contexts of their own, with the answers to their questions."""
        columns, strings = block.columns, block.strings
        spaces, contexts = columns["space"], columns["context"]
        threads = rows[(contexts[rows] != 0) & (contexts[rows] == spaces[rows])]
        contexts[threads[contexts[threads] == main]] = 0
        threads = threads[contexts[threads] != 0]
        self._thread_contexts.update(strings[code] for code in np.unique(contexts[threads]).tolist())
        is_question = (columns["kind"] == (strings.find(kinds.PROPOSAL) or -1)) & (columns["id_hash"] != NO_HASH)
        open_ids = self._asked_in.setdefault(source, {})
        known = [*open_ids, *columns["id_hash"][threads[is_question[threads]]].tolist()]
        if not known:
            return
        ids = np.array(known, np.uint64)
        is_question = is_question[rows] & np.isin(columns["id_hash"][rows], ids)
        is_answer = (spaces[rows] == 0) & (contexts[rows] == 0) & np.isin(columns["correlation_hash"][rows], ids)
        for place in rows[is_question | is_answer].tolist():
            if columns["kind"][place] == strings.find(kinds.PROPOSAL):
                # A later question with this id takes the answer, also one of the main thread.
                identifier = int(columns["id_hash"][place])
                open_ids.pop(identifier, None)
                if contexts[place]:
                    open_ids[identifier] = strings[int(contexts[place])]
            elif thread := open_ids.pop(int(columns["correlation_hash"][place]), None):
                contexts[place] = strings.intern(thread)

    def _assign_to_agent(self, block: Block, rows: NDArray[np.int64], agent: str) -> None:
        """Assigns unnamed records of a sub-agent's file to that sub-agent."""
        columns, strings = block.columns, block.strings
        rows = rows[columns["context"][rows] == 0]
        if not len(rows):
            return
        columns["context"][rows] = strings.intern(agent)
        self._rename_speakers(block, rows, agent)

    def _rename_speakers(self, block: Block, rows: NDArray[np.int64], agent: str) -> None:
        """Renames the speakers of a sub-agent's records that call it by the main agent's name."""
        columns, strings = block.columns, block.strings
        told_by = participants_of(block, rows)
        if told_by is None:
            return
        of_person = np.isin(columns["kind"][rows], [strings.find(kind) or -1 for kind in _PERSON_KINDS])
        own_name = {told_by.agent: f"agent#{agent}"}
        self._rename(block, rows[of_person], own_name)
        self._rename(block, rows[~of_person], {**own_name, "user": told_by.agent})

    @staticmethod
    def _rename(block: Block, rows: NDArray[np.int64], renamed: Mapping[str, str]) -> None:
        """Renames senders and recipients of some rows; a new name is not renamed again."""
        columns, strings = block.columns, block.strings
        senders, recipients = columns["sender"][rows], columns["to_set"][rows]
        for old, new in renamed.items():
            if before := strings.find(old):
                columns["sender"][rows[senders == before]] = strings.intern(new)
        for to in np.unique(recipients).tolist():
            names = block.to_sets[to]
            changed = tuple([renamed.get(name) or name for name in names])
            if changed != names:
                columns["to_set"][rows[recipients == to]] = block.to_sets.intern(changed)

    def _agent_for(self, context: str) -> SubAgent:
        found = self.agents.get(context)
        if found is None:
            found = self.agents[context] = SubAgent(context)
        return found

    def _assign_by_chain(self, block: Block, place: int, chain: Chain) -> None:
        """Finds the sub-agent of a record by the record before it, or by its prompt."""
        columns, strings = block.columns, block.strings
        key, own = int(columns["context"][place]), hash_text(chain.identifier)
        context = strings[key] if key else None
        call = None
        # The prompt identifies a call only at the beginning of a chain.
        if chain.prompt is not None and own not in self._chains:
            known = self.agents.get(context) if context is not None else None
            call = known.call if known is not None and known.call is not None else self._call_telling(chain.prompt)
        if context is None:
            # The same chain, the one before it, the call, and at last the record's own names.
            before = hash_text(chain.parent) if chain.parent is not None else NO_HASH
            context = self._chains.get(own) or self._chains.get(before) or call or chain.parent or chain.identifier
        self._chains[own] = context
        columns["context"][place] = strings.intern(context)
        agent = self._agent_for(context)
        if call is not None:
            self._link_call(agent, call)
            columns["correlation_hash"][place] = hash_text(call)
            columns["flags"][place] |= np.uint32(Flag.CORRELATED.value)
        if chain.prompt is not None:
            self._add_news(agent, place, began=True)

    def _add_call(self, call: str, agent: SubAgent) -> None:
        if self._by_call.setdefault(call, agent) is agent:
            self._by_call_hash[hash_text(call)] = agent

    def _call_telling(self, prompt: str) -> str | None:
        """Returns an unmatched call with exactly this prompt."""
        waiting = self._prompts.get(hash_text(prompt))
        while waiting:
            call = waiting.popleft()
            if call not in self._by_call:
                return call
        return None

    def _link_call(self, agent: SubAgent, call: str) -> None:
        """Links a sub-agent with the call that started it."""
        asked = self._calls.get(call)
        agent.call = agent.call or call
        self._add_call(call, agent)
        if asked is not None:
            agent.label, agent.type = agent.label or asked.label, agent.type or asked.type
            agent.parent = agent.parent or asked.parent

    def _link_only_call(self, agent: SubAgent, type_: str) -> None:
        """Links a sub-agent with the call of its type that has no sub-agent yet, if there is only one."""
        waiting = [call for call, asked in self._calls.items() if asked.type == type_ and call not in self._by_call]
        if len(waiting) == 1:
            self._link_call(agent, waiting[0])

    def _apply_spawn(self, block: Block, place: int, spawn: Spawn) -> None:
        """Applies a message's facts about a sub-agent."""
        key = int(block.columns["context"][place])
        context = block.strings[key] if key and spawn.agent != block.strings[key] else spawn.parent
        if spawn.agent is not None and spawn.has_ended and spawn.call is None and spawn.agent not in self.agents:
            return  # a task of another type
        if spawn.agent is not None:
            known = spawn.agent in self.agents and self.agents[spawn.agent].call is not None
            agent = self._agent_for(spawn.agent)
            agent.label, agent.type = agent.label or spawn.label, agent.type or spawn.type
            if spawn.call is None and spawn.type is not None and not known and not spawn.has_ended:
                self._link_only_call(agent, spawn.type)
            if spawn.call is not None and not known:
                earlier = self._by_call.get(spawn.call)
                if earlier is not None and earlier is not agent:  # the call was attributed to another sub-agent before
                    earlier.call = None
                    self._by_call[spawn.call] = self._by_call_hash[hash_text(spawn.call)] = agent
                self._link_call(agent, spawn.call)
            if not known or spawn.has_ended:
                self._add_news(agent, place, ended=spawn.has_ended, failed=spawn.has_failed)
        elif spawn.has_ended:
            ended = self._by_call.get(spawn.call or "")
            if ended is not None:
                self._add_news(ended, place, ended=True, failed=spawn.has_failed)
        elif spawn.call is not None and spawn.call not in self._calls:
            prompt, spawn.prompt, spawn.parent = spawn.prompt, None, context
            # Copied out, since the spawn is kept and a prompt may be long.
            self._calls[spawn.call] = spawn
            if prompt is not None:
                self._prompts.setdefault(hash_text(prompt), deque()).append(spawn.call)
            # The sub-agent's file was read before the call.
            started = self._by_call.get(spawn.call)
            if started is not None:
                self._link_call(started, spawn.call)
                self._add_news(started, place)

    def _add_news(
        self, agent: SubAgent, place: int, *, began: bool = False, ended: bool = False, failed: bool = False
    ) -> None:
        news = AgentNews(
            agent.context, agent.parent, agent.label, place, has_begun=began, has_ended=ended, failed=failed
        )
        self._news.append(news)

    # Names

    def _name_of(self, agent: SubAgent) -> str:
        """Returns the name of a sub-agent; it is fixed at the first use."""
        if not agent.name:
            shown = agent.context if len(agent.context) <= _MAX_WHOLE_ID else agent.context[-_ID_END_LENGTH:]
            agent.name = f"{(agent.type or 'agent')[:_MAX_TYPE_LENGTH]}#{shown}"
            if agent.parent is not None and agent.parent != agent.context:
                agent.parent_name = self._name_of(self._agent_for(agent.parent))
            self._named.append(agent)
        return agent.name

    def shown_name(self, name: str) -> str:
        """Returns the name to show for a participant: of a sub-agent its type and task, else the name itself.

        For example "Explore: find the config"; see `shown_names`.
        """
        if self._named and not self._shown:
            self._shown = shown_names(self._named)
        return self._shown.get(name, name)

    def _name_all(self, block: Block, derived: NDArray[np.int64]) -> None:
        """Sets sub-agents as senders and recipients under their own names."""
        columns, strings = block.columns, block.strings
        inside = derived[columns["context"][derived] != 0]
        if not len(inside):
            return
        for code in np.unique(columns["context"][inside]).tolist():
            context = strings[code]
            agent = self._agent_for(context)
            name = self._name_of(agent)
            rows = inside[columns["context"][inside] == code]
            renamed = {"agent": name, f"agent#{context}": name}
            # Inside of a sub-agent, the main agent's name means its parent.
            if agent.parent_name:
                renamed |= dict.fromkeys(registry.groups().main_agents, agent.parent_name)
            self._rename(block, rows, renamed)

    # After a block was appended

    def take_news(self, placed: NDArray[np.int64], spaces: NDArray[Any]) -> list[AgentNews]:
        """Returns and clears the last block's news of sub-agents.

        Args:
            placed: (records,) message of each record.
            spaces: column of the capture.
        """
        rows = [int(placed[told.row]) for told in self._news]
        found = [
            replace(told, row=row, space=int(spaces[row]))
            for told, row in zip(self._news, rows, strict=True)
            if row != NO_ROW
        ]
        self._news.clear()
        return found

    def find_originals(
        self, said: NDArray[np.uint64], rows: NDArray[np.int64], new: NDArray[np.bool_], origins: NDArray[np.uint64]
    ) -> NDArray[np.int64]:  # fmt: skip
        """Returns (n,) the message that each copies, or NO_ROW. Call once per block, in order; O(n log n).

        Args:
            said: (n,) hashes equal for copies; NO_HASH.
            rows: (n,) the messages, ascending, greater than all earlier ones.
            new: (n,) True for new messages: they copy only a message with the same origin.
            origins: (n,) hashes of their origin; NO_HASH. Empty if none is new.
        """
        found = first_rows(self._content_index, said, rows)
        if new.any():
            found[new] = first_rows(self._origins, origins[new], rows[new])
            first = new & (found == NO_ROW)
            self._origins.add(origins[first], rows[first].astype(np.uint32))
        originals = found == NO_ROW
        self._content_index.add(said[originals], rows[originals].astype(np.uint32))
        return found

    def previous_with_text(self, echo: int, row: int) -> int:
        """Returns the earlier message with this text, of a sub-agent or of its call's result; NO_ROW."""
        found = self._echoes.get(echo, NO_ROW)
        self._echoes[echo] = row
        return found
