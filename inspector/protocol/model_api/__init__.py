"""Model APIs over HTTP: detects calls, and reassembles streamed answers.

Anthropic's messages, OpenAI's chat completions and responses, Gemini's generateContent (docs/protocols.md 17).
`inspector.protocol.formats.api_messages` reads the content of requests and answers; this package covers the wire.
"""
