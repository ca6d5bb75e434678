"""The text of a turn on its way to a memory: stripped, asked about, answered, checked; no I/O, no SQL, no HTTP."""
