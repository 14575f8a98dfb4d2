"""A tiny language model with random weights, as a folder: `python -m tests.tiny_expert FOLDER`. It needs PyTorch."""

import sys
from pathlib import Path

CHAT = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def write(folder: Path) -> None:
    """A model of one layer that reads single bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    signs = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>", "<pad>"]
    bytes_alone = Tokenizer(models.BPE(vocab={sign: i for i, sign in enumerate(signs)}, merges=[]))
    bytes_alone.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_alone.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_alone, eos_token="<end>", pad_token="<pad>")
    tokenizer.chat_template = CHAT
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(signs),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=512,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
