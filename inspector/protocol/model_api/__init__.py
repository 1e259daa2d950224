"""APIs of models over HTTP: which calls there are, and how a streamed answer is put together.

Anthropic's messages, OpenAI's chat completions and responses, Gemini's generateContent (docs/protocols.md 17). What
requests and answers say is read as `inspector.protocol.formats.messages` reads it; here is what only the wire has.
"""
