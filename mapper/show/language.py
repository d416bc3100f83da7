"""A language model's forward pass in words."""

from __future__ import annotations

from layers import LanguageModel


def language_lines(model: LanguageModel) -> list[str]:
    """The pass, what the model holds, and how many experts take part."""
    run, experts = model.run, model.experts
    lines = [
        f"forward pass: {_many(run.batch, 'sequence')} of {_many(run.tokens, 'new token')} and "
        f"{run.cache:,} cached, {_many(run.context, 'key')} each",
        f"{model.parameters:,} parameters; a token adds {model.cached:,} elements to the cache",
    ]
    if experts is not None:
        tokens = run.new_tokens
        lines.append(
            f"experts: {experts.per_token:,} of {experts.total:,} a token; "
            f"{experts.expected(tokens):.2f} distinct ones expected for {_many(tokens, 'token')}, "
            f"{experts.used(tokens):,} counted"
        )
    return lines


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
