"""Conversations rendered by transformers with templates in the style of well-known chat models, written for this test."""

import glob
import json
import os
import tempfile

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from common import Group, arguments

CHATML = """{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}
    {% set system = messages[0]['content'] %}
    {% set turns = messages[1:] %}
{% else %}
    {% set system = false %}
    {% set turns = messages %}
{% endif %}
{% for message in turns %}
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{ raise_exception('Roles must alternate user/assistant/user/assistant') }}
    {% endif %}
    {% if loop.first and system %}
        {% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'] %}
    {% else %}
        {% set content = message['content'] %}
    {% endif %}
    {% if message['role'] == 'user' %}
        {{- bos_token + '[INST] ' + content | trim + ' [/INST]' -}}
    {% else %}
        {{- ' ' + content | trim + ' ' + eos_token -}}
    {% endif %}
{% endfor %}"""

LLAMA3 = """{{- bos_token }}
{%- set head = '<|start_header_id|>%s<|end_header_id|>' %}
{%- if tools is defined and tools is not none %}
    {{- '<|start_header_id|>system<|end_header_id|>\\n\\nYou may call these functions:\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=2) }}
        {{- '\\n' }}
    {%- endfor %}
    {{- '<|eot_id|>' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n' }}
    {%- if message.tool_calls is defined and message.tool_calls %}
        {%- for call in message.tool_calls %}
            {{- '{"name": "' + call.function.name + '", "parameters": ' + call.function.arguments | tojson + '}' }}
        {%- endfor %}
    {%- elif message.content is string %}
        {{- message.content | trim }}
    {%- else %}
        {%- for part in message.content %}
            {{- part.text if part.type == 'text' else '<|' + part.type + '|>' }}
        {%- endfor %}
    {%- endif %}
    {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}"""

GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}{% if message['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""

MISTRAL = """{%- set ns = namespace(index=0, system='') %}
{%- for message in messages if message.role == 'system' %}
    {%- set ns.system = message.content %}
{%- endfor %}
{{- bos_token }}
{%- if documents %}
    {%- for document in documents | sort(attribute='title') %}
        {{- '[DOC]' ~ loop.index ~ ': ' ~ document['title'] | upper ~ ' - ' ~ document['text'] ~ '[/DOC]' }}
    {%- endfor %}
{%- endif %}
{%- for message in messages | rejectattr('role', 'equalto', 'system') %}
    {%- if message.role == 'user' %}
        {{- '[INST] ' ~ (ns.system ~ '\\n\\n' if loop.last and ns.system else '') ~ message.content ~ '[/INST]' }}
        {%- set ns.index = ns.index + 1 %}
    {%- else %}
        {{- ' ' ~ message.content ~ eos_token }}
    {%- endif %}
{%- endfor %}
{{- ' ' ~ ns.index ~ (mood | default('')) if mood is defined }}"""

# What the values of Python are as text, when they are equal, and what a loop or a filter makes of what is not there.
PYTHON = """{%- for message in messages %}
    {{- message.role ~ ': ' ~ message.content ~ ' ' }}{{ message.content }} {{ message | string | trim }}
    {%- if message == messages[-1] and message.tool_calls != none %} last{% endif %}
{%- endfor %}
{%- for tool in tools or nothing %} {{ tool | string }}{% endfor %}
{{- none ~ true ~ missing ~ 1.0 ~ 10000000000000000.0 ~ 0.00001 ~ 2.5 }} {{ none }} {{ true }} {{ [1, none, ("a", "b"), "it's", 'say "it\\'s"\n', {"b": [false, 1.5]}] }}
{{- [1, none, "a"] | join("-") }}{{ none | string | upper }}{{ [" a "] | trim }}{{ true | replace("T", "t") }}
{{- (1 == true) ~ ("1" == 1) ~ ("" == false) ~ ([1, [2]] == [1, [2]]) ~ ({"a": 1} != {"a": 1.0}) ~ ([1] in [[1], 2]) ~ (none == missing) }}
{%- for letter in "a😀" %} {{ letter }}{% endfor %}
{%- for thing in missing %} never{% endfor %}
{{- messages | selectattr("tool_calls", "undefined") | list | length }}{{ messages | rejectattr("role", "equalto", "user") | list | length }}
{{- messages | selectattr("tool_calls") | map(attribute="role") | join(",") }}"""

TEMPLATES = {"python": PYTHON, "refused_sum": "{{ 'a' + messages }}", "refused_list": "{{ messages + 'a' }}", "chatml": CHATML, "llama2": LLAMA2, "llama3": LLAMA3, "gemma": GEMMA, "mistral": MISTRAL}

SHORT = [{"role": "user", "content": "  Hello, who are you?  "}]
LONG = [
    {"role": "system", "content": "You are terse."}, {"role": "user", "content": "Où est la gare ? 😀"},
    {"role": "assistant", "content": "Là-bas.\n"}, {"role": "user", "content": "Thanks <b>a lot</b> & bye"},
]
TURNS = LONG[1:]
OPEN = [*TURNS, {"role": "assistant", "content": "You are most "}]
PARTS = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is this?"}]}]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "It's \"sunny\" or <not>", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}}, "required": ["city"]}}}]
CALLED = [*TURNS, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Łódź", "days": 2}}}]},
          {"role": "tool", "content": "14.5 °C"}]
DOCUMENTS = [{"title": "second", "text": "two"}, {"title": "first", "text": "one"}]


def conversations():
    """Template's name, conversation (or several), options."""
    for name in (name for name in TEMPLATES if name not in ("python", "refused_sum", "refused_list")):
        for messages in (SHORT, TURNS):
            yield name, messages, {}
            yield name, messages, {"add_generation_prompt": True}
        if name != "gemma":
            yield name, LONG, {}
        yield name, [SHORT, TURNS], {"add_generation_prompt": True}
    yield "gemma", LONG, {}
    yield "llama2", OPEN[2:], {}
    for name in ("chatml", "llama3", "gemma"):
        yield name, OPEN, {"continue_final_message": True}
    yield "llama3", PARTS, {"add_generation_prompt": True}
    yield "llama3", PARTS, {"continue_final_message": True}
    yield "llama3", TURNS, {"tools": TOOLS, "add_generation_prompt": True}
    yield "llama3", CALLED, {"tools": TOOLS, "add_generation_prompt": True}
    yield "mistral", LONG, {"documents": DOCUMENTS}
    yield "mistral", TURNS, {"mood": " :)"}
    for messages in (PARTS, CALLED):
        yield "python", messages, {"tools": TOOLS}
    yield "python", LONG, {}
    yield "refused_sum", SHORT, {}
    yield "refused_list", SHORT, {}


def rendered(tokenizer, name, messages, options):
    """Text and ids, or the message of the template's own error."""
    try:
        text = tokenizer.apply_chat_template(messages, chat_template=name, tokenize=False, **options)
    except Exception as error:
        if type(error).__name__ not in ("TemplateError", "TypeError"):
            raise
        return {"refused": str(error) if type(error).__name__ == "TemplateError" else "cannot be added"}
    found = tokenizer.apply_chat_template(messages, chat_template=name, return_dict=True, **options)
    return {"rendered": text, "ids": found["input_ids"]}


def saved(json_file, chat_template):
    """The files of templates that save_pretrained writes, and what is loaded from them."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json_file), chat_template=chat_template)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        paths = sorted(glob.glob("**/*.jinja", root_dir=folder, recursive=True))
        files = {path: open(os.path.join(folder, path), encoding="utf-8").read() for path in paths}
        return {"files": files, "loaded": PreTrainedTokenizerFast.from_pretrained(folder).chat_template}


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_chat", "tokenizer_chat.py", ["transformers", "tokenizers", "jinja2"])
    with open(os.path.join(args.out, "tokenizer_sample", "byte_level_gpt2.json"), encoding="utf-8") as file:
        held = json.load(file)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(held)), bos_token="<s>", eos_token="<|endoftext|>", chat_template=TEMPLATES)
    for at, (name, messages, options) in enumerate(conversations()):
        group.add({"name": f"{name}_{at:02}", "op": "apply_chat_template", "template": name, "messages": messages, "options": options}
                  | rendered(tokenizer, name, messages, options))
    group.header["templates"] = TEMPLATES
    several = {"default": "plain", "tool_use": "tools", "rag": "documents"}
    group.header["saved"] = [saved(json.dumps(held), chat_template) for chat_template in (
        several, {"default": "plain"}, "plain", {"rag": "documents"})]
    group.save()


if __name__ == "__main__":
    main()
