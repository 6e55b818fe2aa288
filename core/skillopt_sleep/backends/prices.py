"""What models cost: a dated table, overridable by settings; an unknown price is said, not guessed.

USD per million tokens, list prices for single requests of ordinary length. Where a provider has
two prices, by hour, length or offer, the higher one for ordinary lengths is meant, so that a
budget is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillopt_sleep.config import BackendSettings
from skillopt_sleep.model.usage import Usage

AS_OF = "2026-11"
"""When the table was put together; providers change prices, settings override them."""

BATCH = 0.5
"""Share of the list price that Anthropic and OpenAI ask for what comes in a batch."""

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens.

    Attributes:
        input: Fresh input.
        output: Output.
        cache_read: Input read from the provider's cache.
        cache_write: Input written to the provider's cache.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float

    def of(self, usage: Usage) -> float:
        """Return the dollars that these tokens cost."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        ) / MILLION

    def saved(self, usage: Usage) -> float:
        """Return the dollars that the provider's cache saved, negative if it cost more."""
        return (
            usage.cache_read_tokens * (self.input - self.cache_read)
            + usage.cache_write_tokens * (self.input - self.cache_write)
        ) / MILLION


FREE = Price(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0)


def _claude(paid: float, output: float, cache_read: float | None = None) -> Price:
    read = paid * 0.1 if cache_read is None else cache_read
    return Price(input=paid, output=output, cache_read=read, cache_write=paid * 1.25)


def _gpt(paid: float, output: float, cache_read: float) -> Price:
    return Price(input=paid, output=output, cache_read=cache_read, cache_write=paid * 1.25)


def _other(paid: float, output: float, cache_read: float | None = None) -> Price:
    read = paid if cache_read is None else cache_read
    return Price(input=paid, output=output, cache_read=read, cache_write=paid)


_READ: dict[str, Price] = {
    "claude-fable-5-1": _claude(10, 50, 0.25),
    "claude-fable-5": _claude(10, 50),
    "claude-opus-5-5": _claude(4, 20, 0.2),
    "claude-opus-5": _claude(5, 25),
    "claude-opus-4-8": _claude(5, 25),
    "claude-opus-4-7": _claude(5, 25),
    "claude-opus-4-6": _claude(5, 25),
    "claude-opus-4-5": _claude(5, 25),
    "claude-opus-4-1": _claude(15, 75),
    "claude-opus-4": _claude(15, 75),
    "claude-sonnet-5-5": _claude(2, 10),
    "claude-sonnet-5": _claude(2, 10),
    "claude-sonnet-4-5": _claude(3, 15),
    "claude-sonnet-4": _claude(3, 15),
    "claude-3-7-sonnet": _claude(3, 15),
    "claude-haiku-5-5": _claude(0.1, 0.5),
    "claude-haiku-4-5": _claude(1, 5),
    "claude-3-5-haiku": _claude(0.8, 4),
    "gpt-6.2-sol": _gpt(2, 10, 0.1),
    "deepseek-flash": _other(0.3, 1.2, 0.006),
    "deepseek-v4-pro": _other(1.32, 3.96, 0.044),
}
"""Read from the provider's own page, in copies of autumn 2026."""

_HEARD: dict[str, Price] = {
    "claude-sonnet-4-6": _claude(3, 15),
    "gpt-6.2-astra": _gpt(8, 40, 8),
    "gpt-6.1-sol": _gpt(2, 10, 0.1),
    "gpt-6.1-terra": _gpt(1, 5, 0.05),
    "gpt-6-astra": _gpt(10, 50, 1),
    "gpt-6-sol": _gpt(2, 10, 0.2),
    "gpt-6-luna": _gpt(0.1, 0.5, 0.01),
    "gpt-5.6-sol": _gpt(5, 30, 0.5),
    "gpt-5.6-terra": _gpt(2, 12, 0.2),
    "gpt-5.6-luna": _gpt(0.2, 1.2, 0.02),
    "gpt-5.5": _other(5, 30, 0.5),
    "gpt-5.4": _other(2.5, 15, 0.25),
    "gpt-5.4-mini": _other(0.75, 4.5, 0.075),
    "gpt-5.4-nano": _other(0.2, 1.25),
    "gpt-5.2": _other(1.75, 14),
    "gpt-5.1": _other(1.25, 10, 0.125),
    "gpt-5": _other(1.25, 10, 0.125),
    "gpt-5-mini": _other(0.25, 2, 0.025),
    "gpt-5-nano": _other(0.05, 0.4, 0.005),
    "gpt-4.1": _other(2, 8, 0.5),
    "gpt-4.1-mini": _other(0.4, 1.6, 0.1),
    "gpt-4.1-nano": _other(0.1, 0.4, 0.025),
    "gpt-4o": _other(2.5, 10, 1.25),
    "gpt-4o-mini": _other(0.15, 0.6, 0.075),
    "o3": _other(2, 8, 0.5),
    "o4-mini": _other(1.1, 4.4, 0.275),
    "deepseek-chat": _other(0.28, 0.42, 0.028),
    "deepseek-reasoner": _other(0.28, 0.42, 0.028),
}
"""Told by others of the provider's page; not seen there."""

_TABLE = {**_HEARD, **_READ}


def price_of(settings: BackendSettings) -> Price | None:
    """Return the price of a model as asked for, or None where nobody knows it.

    The settings win; they must give input and output price both. A cache is then counted at the
    input price.
    """
    if settings.price_input is not None and settings.price_output is not None:
        return _other(settings.price_input, settings.price_output)
    return listed(settings.model)


def listed(model: str) -> Price | None:
    """Return the table's price for a model id, with or without a date or vendor in it, or None."""
    name = model.lower().rpartition("/")[2].removesuffix("-latest")
    if found := _TABLE.get(name):
        return found
    head, _, tail = name.partition("-20")
    return _TABLE.get(head) if tail[:2].isdigit() else None


def priced(usage: Usage, price: Price | None, *, share: float = 1.0) -> Usage:
    """Return ``usage`` with its money and what was saved of it, or counted as unpriced.

    Args:
        usage: Tokens.
        price: List price, or None where it is unknown.
        share: Share of the list price that is asked for, in [0, 1].
    """
    if price is None:
        return replace(usage, unpriced=usage.calls)
    paid = price.of(usage) * share
    return replace(usage, dollars=paid, saved=price.of(usage) - paid + price.saved(usage))
