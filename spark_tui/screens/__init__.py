"""The screens; each reaches the engine through its own small protocol, never through a global."""
