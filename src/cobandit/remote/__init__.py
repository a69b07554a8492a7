"""Players outside this process: language models and policies behind HTTP, asked for one move at a time.

`prompt` writes what one seat may know, `chat` asks a chat-completions endpoint, `answers` reads its reply strictly,
`replies` stores replies on disk, `usage` counts calls and tokens, and `demo` is a small stand-in for a model. There is
no SQL and no web framework here: HTTP is that of the standard library.
"""
