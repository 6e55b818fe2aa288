"""Providers that speak Chat Completions, as data: where they are, which key, which quirks.

Knows no SDK. A preset is a name for the ``openai_compatible`` backend; every value can be
overridden by the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How to reach one provider.

    Attributes:
        base_url: Where it is, or "" where the user must say it.
        key_env: Variables that may hold the key, the first that is set wins.
        needs_key: Whether a missing key is an error; servers on one's own machine want none.
        url_env: Variable that may hold the URL, or "".
        path: What the URL must end in; added where it is missing.
        tokens_field: Name of the request field that caps the output.
        no_thinking: Request fields that switch hidden reasoning off, merged unless overridden.
        own_names: Whether the reply may name another model than was asked for, as where
            deployments or routers have names of their own.
        batches: Whether it takes many prompts together for half the price.
        free: Whether calls cost nothing, as on one's own machine.
    """

    base_url: str = ""
    key_env: tuple[str, ...] = ()
    needs_key: bool = True
    url_env: str = ""
    path: str = ""
    tokens_field: str = "max_tokens"
    no_thinking: Mapping[str, object] = field(default_factory=dict[str, object])
    own_names: bool = False
    batches: bool = False
    free: bool = False


_QWEN = {"enable_thinking": False}

OPENAI = Preset(
    base_url="https://api.openai.com/v1",
    key_env=("OPENAI_API_KEY",),
    url_env="OPENAI_BASE_URL",
    tokens_field="max_completion_tokens",
    batches=True,
)

COMPATIBLE = Preset(
    key_env=("OPENAI_API_KEY",), url_env="OPENAI_BASE_URL", needs_key=False, batches=True
)

PRESETS: dict[str, Preset] = {
    "azure_openai": Preset(
        key_env=("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        url_env="AZURE_OPENAI_ENDPOINT",
        path="/openai/v1",
        tokens_field="max_completion_tokens",
        own_names=True,
        batches=True,
    ),
    "cerebras": Preset(base_url="https://api.cerebras.ai/v1", key_env=("CEREBRAS_API_KEY",)),
    "deepseek": Preset(base_url="https://api.deepseek.com/v1", key_env=("DEEPSEEK_API_KEY",)),
    "fireworks": Preset(
        base_url="https://api.fireworks.ai/inference/v1", key_env=("FIREWORKS_API_KEY",)
    ),
    "gemini": Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "groq": Preset(
        base_url="https://api.groq.com/openai/v1",
        key_env=("GROQ_API_KEY",),
        tokens_field="max_completion_tokens",
    ),
    "llama_cpp": Preset(
        base_url="http://127.0.0.1:8080/v1", needs_key=False, own_names=True, free=True
    ),
    "lm_studio": Preset(
        base_url="http://127.0.0.1:1234/v1", needs_key=False, own_names=True, free=True
    ),
    "minimax": Preset(base_url="https://api.minimax.io/v1", key_env=("MINIMAX_API_KEY",)),
    "minimax_cn": Preset(base_url="https://api.minimaxi.com/v1", key_env=("MINIMAX_API_KEY",)),
    "mistral": Preset(base_url="https://api.mistral.ai/v1", key_env=("MISTRAL_API_KEY",)),
    "moonshot": Preset(base_url="https://api.moonshot.ai/v1", key_env=("MOONSHOT_API_KEY",)),
    "ollama": Preset(
        base_url="http://127.0.0.1:11434/v1",
        url_env="OLLAMA_HOST",
        path="/v1",
        needs_key=False,
        free=True,
    ),
    "openrouter": Preset(
        base_url="https://openrouter.ai/api/v1", key_env=("OPENROUTER_API_KEY",), own_names=True
    ),
    "qwen": Preset(
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env=("DASHSCOPE_API_KEY",),
        no_thinking=_QWEN,
    ),
    "qwen_cn": Preset(
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_env=("DASHSCOPE_API_KEY",),
        no_thinking=_QWEN,
    ),
    "together": Preset(base_url="https://api.together.xyz/v1", key_env=("TOGETHER_API_KEY",)),
    "vllm": Preset(
        base_url="http://127.0.0.1:8000/v1",
        key_env=("VLLM_API_KEY",),
        needs_key=False,
        free=True,
    ),
    "xai": Preset(base_url="https://api.x.ai/v1", key_env=("XAI_API_KEY",)),
    "zhipu": Preset(
        base_url="https://open.bigmodel.cn/api/paas/v4",
        key_env=("ZHIPUAI_API_KEY",),
        no_thinking={"thinking": {"type": "disabled"}},
    ),
}

ALIASES = {
    "claude_chat": "anthropic",
    "openai_chat": "openai",
    "qwen_chat": "qwen",
    "minimax_chat": "minimax",
    "copilot_chat": "copilot_cli",
}
"""Names that the paper's code uses, and what they are called here."""


def preset_of(name: str) -> Preset:
    """Return the preset that a backend of this name goes by."""
    real = ALIASES.get(name, name)
    if real == "openai":
        return OPENAI
    return PRESETS.get(real, COMPATIBLE)
