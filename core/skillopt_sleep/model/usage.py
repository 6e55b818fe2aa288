"""What model calls cost: calls, tokens, money."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Totals over some model calls; add them with ``+``.

    Attributes:
        calls: Requests that reached a provider.
        input_tokens: Fresh input tokens.
        output_tokens: Output tokens.
        cache_read_tokens: Input tokens that the provider read from its cache.
        cache_write_tokens: Input tokens that the provider wrote to its cache.
        cached_calls: Calls answered from our own journal, free.
        dollars: Money, or 0.0 where the price is unknown (see ``unpriced``).
        unpriced: Calls whose price is unknown.
        saved: Dollars less than the list price of single requests, by the provider's cache and by
            batches; negative where filling a cache cost more than it gave back.
        seconds: Wall time of the night that passed up to these calls since those before them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cached_calls: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    saved: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cached_calls=self.cached_calls + other.cached_calls,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
            saved=self.saved + other.saved,
            seconds=self.seconds + other.seconds,
        )

    @property
    def tokens(self) -> int:
        """Input and output tokens together, cached ones included."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )


NO_USAGE = Usage()
