"""llama.cpp's server for one file, in a process that ends with whoever started it. Imports nothing of Courtroom.

    python llama_server.py FILE CONTEXT THREADS

prints its address once the model is loaded.
"""

import os
import sys
from contextlib import suppress

CACHE_MB = 512
"""Of prompts that were read, so that what members share is read once. By itself llama.cpp keeps 8 GB."""
BATCH = 128
"""Tokens of a prompt that are read together. Without flash attention, memory is taken for each of them; on processors
words come a third faster without it (50 a second of one core for 38, after a prompt of 1,000 tokens)."""
PING_S = 5
"""How often a stream says that it is alive while a prompt is being read."""


def serve(file: str, context: int, threads: int) -> None:
    """Answer one call after the other until standard input ends, so many threads working on each word."""
    from xllamacpp import CommonParams, Server, llama_flash_attn_type

    with suppress(AttributeError, OSError):
        os.nice(5)  # the app's page comes first
    params = CommonParams()
    params.model.path, params.port, params.hostnames = file, 0, ["127.0.0.1"]
    params.n_parallel, params.n_ctx, params.sse_ping_interval = 1, context, PING_S
    # Of all prompts that were read, the one that has most in common with the new one is looked for.
    params.cache_ram_mib, params.slot_prompt_similarity = CACHE_MB, 0.0
    params.flash_attn_type, params.n_ubatch = llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED, BATCH
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = threads, 0
    server = Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
