"""Logs that no built-in format reads, and their declarations."""

from __future__ import annotations

ROBOT = """
name = "robot"
title = "Robot log"
traffic = "log"

[match]
keys = ["ev", "at"]

[fields]
id = "n"
time = "at"
time_unit = "ms"
sender = "who"
text = "msg"
session = "run"
agent = "unit"

[call]
id = "cid"
tool = "do"
arguments = "args"

[result]
call = "cid"
content = "out"
error = "err"

[sub_agent]
id = "started"
label = "task"

[usage]
model = "m"
input = "tok.in"
output = "tok.out"
cache_read = "tok.cached"
cost = "usd"
input_has_cache = true

[kind]
path = "ev"
values = { ask = "prompt", say = ["answer", "call"], think = "thought", act = "call", back = "result", \
spawn = "agent_started", ended = "agent_ended", shrink = "compaction", oops = "error", post = "message" }
""".replace("\\\n", "")

ROBOT_LOG = b"""\
{"n":"1","ev":"ask","at":1790000000000,"run":"r1","who":"user","msg":"Clean the kitchen"}
{"n":"2","ev":"think","at":1790000000500,"run":"r1","who":"robot","msg":"The sink first"}
{"n":"3","ev":"act","at":1790000001000,"run":"r1","who":"robot","cid":"c1","do":"wipe","args":{"surface":"sink"},\
"m":"m-1","tok":{"in":100,"out":12,"cached":40},"usd":0.01}
{"n":"4","ev":"back","at":1790000002000,"run":"r1","cid":"c1","out":"done"}
{"n":"5","ev":"say","at":1790000003000,"run":"r1","who":"robot","msg":"Next the oven","cid":"c2","do":"scrub"}
{"n":"6","ev":"back","at":1790000004000,"run":"r1","cid":"c2","err":"the oven is hot"}
{"n":"7","ev":"spawn","at":1790000005000,"run":"r1","who":"robot","cid":"c3","started":"a7","task":"Floor"}
{"n":"8","ev":"say","at":1790000006000,"run":"r1","unit":"a7","msg":"Floor is wet"}
{"n":"9","ev":"battery","at":1790000007000,"run":"r1","level":80}
"""

STEPS = """
name = "steps"
title = "Step file"

[lines]
form = "json-array"
path = "run.steps"

[match]
keys = ["role"]

[fields]
time = "t"
time_unit = "s"
sender = "role"
text = ["content.text", "content"]
"""

STEPS_FILE = b"""\
{"meta": {"steps": [1, 2]}, "run": {"id": "x", "steps": [
  {"role": "user", "t": 1790000000.25, "content": "hi \\"there\\" ]"},
  {"role": "assistant", "t": "1790000001.5", "content": {"text": "hello"}},
  {"role": "judge", "content": "3"}
 ], "score": 1}, "tail": [1, 2]}
"""

TEXT = r"""
name = "bot-text"
title = "Bot text log"

[lines]
form = "regex"
regex = '^(?P<time>\S+ \S+) \[(?P<who>\w+)\] (?:call (?P<tool>\w+) (?P<args>\{.*\})|(?P<text>.*))$'

[fields]
time = "time"
sender = "who"
text = "text"

[call]
tool = "tool"
arguments = "args"
"""

TEXT_LOG = b"""\
2026-01-05 09:00:00,123 [user] hello
2026-01-05 09:00:01,123 [bot] call search {"q": "x"}
2026-01-05 09:00:02,123 [bot] bye
"""

DIALOGS = """
name = "dialogs"
title = "Dialog file"

[lines]
path = "talk.turns"

[match]
keys = ["talk.turns"]

[fields]
id = "id"
session = "id"
sender = "role"
text = "words"

[call]
tool = "tool"
arguments = "args"
"""

DIALOGS_FILE = b"""\
{"id": "d1", "talk": {"turns": [{"role": "user", "words": "hi"}, {"role": "assistant", "words": "I look", \
"tool": "search", "args": {"q": "x"}}, "odd", {"role": "assistant", "words": "bye"}]}, "score": 1}
{"id": "d2", "talk": {"turns": []}}
{"id": "d3", "talk": {"turns": [{"role": "user", "words": "again"}, {"role": "assistant", "words": "yes"}]}}
"""
