// Random chat templates give the text that transformers gives. With CLEARFORMER_TEMPLATE_CASES the folder of other
// cases that tests/references/chat_templates_random.py wrote.

import { apply_chat_template, type Message } from 'clearformer/chat_template';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it, vi } from 'vitest';
import { casesOf, randomGroup } from './support/references.js';

interface TemplateCase {
  name: string;
  template: string;
  messages: Message[];
  tools: object[] | null;
  add_generation_prompt: boolean;
  text: string;
}
const cases = casesOf<TemplateCase>(randomGroup('chat_templates_random', 'CLEARFORMER_TEMPLATE_CASES'));
const json = { model: { type: 'WordLevel', vocab: { '<s>': 0 }, unk_token: '<s>' } };
const tokenizer = new PreTrainedTokenizer(json, { bos_token: '<s>' });
const rendered = (template: string, messages: Message[], options: object = {}) =>
  apply_chat_template(tokenizer, messages, { chat_template: template, ...options, tokenize: false });

describe('random chat templates equal transformers', () => {
  it.each(cases)('$name', ({ template, messages, tools, add_generation_prompt, text }) => {
    expect(rendered(template, messages, { tools: tools ?? undefined, add_generation_prompt })).toBe(text);
  });
});

describe('templates are Python’s', () => {
  const messages = ['\n  one ', 'two', 'three'].map((content) => ({ role: 'user', content }));
  it.each([
    ["{{ messages[0].content.strip('\\n') }}|{{ ' x '.rstrip() }}|{{ '--x-'.lstrip('-') }}", '  one | x|x-'],
    [
      '{% for m in messages %}{{ loop.index }}{% if loop.index == 2 %}!{% continue %}{% endif %},{% endfor %}',
      '1,2!3,',
    ],
    ['{% for m in messages %}{{ loop.index }}{% if loop.index == 2 %}!{% break %}{% endif %},{% endfor %}.', '1,2!.'],
    [
      '{% for m in messages %}p{% filter upper %}a{% if true %}b{% continue %}{% endif %}{% endfilter %}{% endfor %}.',
      'ppp.',
    ],
    [
      '{% for m in messages %}p{% set x %}a{% if loop.last %}b{% break %}{% endif %}{% endset %}{{ x }}{% endfor %}.',
      'papap.',
    ],
    [
      "{{ 'x' | int(default=5) }} {{ 'x' | int }} {{ ' 12 ' | int }} {{ '2.9' | int }} {{ missing | length }}",
      '5 0 12 2 0',
    ],
    ['{% generation -%}{{ 0 -}}{% endgeneration %}  x', '0  x'],
    [
      '{% set x = 1 %}{% for m in messages %}{{ x }}{{ y is defined }}{% set x = 2 %}{% set y = 3 %}{{ x }}{% endfor %}{{ x }}',
      '1False21False21False21',
    ],
    [
      '{% set x = 1 %}{% for m in messages %}{{ x }}{% if loop.first %}{% set x = 2 %}{% endif %}{{ x }}{% if x == 3 %}{% break %}{% endif %}{% endfor %}',
      '121111',
    ],
    ["{{ {',': 1, ':': 2}[','] }}{{ {':': 2}[':'] }}{{ 'abc'[none:2] }}{{ [1, 2, 3][:-1:true] }}", '12ab[1, 2]'],
    ["{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(*'xy') }}{{ m(**{'b': 2, 'a': 0}) }}", '11xy02'],
    ['{{ -5 % 3 }} {{ 5 % -3 }} {{ -0.0 % 3 }} {{ -7 // 2 }} {{ true + 1.0 }} {{ 2 ** -1 }}', '1 -1 0.0 -4 2.0 0.5'],
    ["{{ namespace([('a', 1)], b=2).a }}{% set ns = namespace({'c': 3}) %}{% set ns.d = 4 %}{{ ns.c + ns.d }}", '17'],
    ['{% set x = 1 %}{% set z %}{% set x = 5 %}{{ x }}{% endset %}{{ x }}{{ z }}', '15'],
    ['{% set x = 1 %}{% filter upper %}{% set x = "b" %}{{ x }}{% endfilter %}{{ x }}', 'B1'],
    ['{% set x = 1 %}{% generation %}{% set x = 5 %}{{ x }}{% endgeneration %}{{ x }}', '51'],
    [
      '{% macro f() %}{{ x }}{{ loop is defined }}{% endmacro %}{% for x in messages %}{{ f() }}{% endfor %}{% set x = 1 %}{{ f() }}',
      'FalseFalseFalse1False',
    ],
    [
      '{% macro f(a) %}[{{ caller(a) }}]{% endmacro %}{% for m in messages %}{% call(a) f(7) %}{{ a }}{{ m.content | trim }}{% endcall %}{% endfor %}',
      '[7one][7two][7three]',
    ],
    [
      '{% set d = {"items": 1} %}{{ d["items"] }}{% for key, value in d.items() %}{{ key }}{{ value }}{% endfor %}',
      '1items1',
    ],
    ['{{ "😀b"[1] }}{{ "😀b".find("b") }}{{ "ab"[5] | default("-") }}{{ {"a": 1}[["a"]] is defined }}', 'b1-False'],
    [
      '{{ messages | join(", ", attribute="role") }} {{ "ab" | join(d="-") }} {{ [1, none] | join }}',
      'user, user, user a-b 1None',
    ],
    [
      '{{ -2.5 | int }} {{ 2.5 | int(7) }} {{ none | select | list }} {{ ["a", "A", 1, true] | unique | list }}',
      "-2 2 [] ['a', 1]",
    ],
    [
      '{{ [{"f": {"n": 1}}] | selectattr("f.n", "equalto", 1) | map(attribute="f.n") | list }}{{ "ab" | selectattr("type", "equalto", "x") | list }}',
      '[1][]',
    ],
    ['{{ "xax" | trim("x") }}|{{ "\ufeff a\x85" | trim }}|{{ "\x1ca".strip() }}', 'a|\ufeff a|a'],
    ['{{ dict(a=1, b="x") | tojson }} {{ true is number }} {{ 1.5 is float }}', '{"a": 1, "b": "x"} True True'],
    ['{% set ns = namespace(items=[1], get="x") %}{{ ns.items }}{{ ns["get"] }}', '[1]x'],
    ['{{ "ab".length is defined }}{{ "😀x😀".strip("😀") }}', 'Falsex'],
    ['{% filter title %}{{ messages[1].content }}-b c{% endfilter %}', 'Two-B C'],
    ['{{ -1 % 2 }} {{ 7 % -3 }} {{ -2.5 % 2 }}', '1 -2 1.5'],
    [
      '{{ "mcDONALD fred" | title }} {{ "it\'s" | title }} {{ "it\'s".title() }} {{ "aB" | capitalize }}',
      "Mcdonald Fred It's It'S Ab",
    ],
    [
      '{{ ["b", "a"] | map("upper") | join }} {{ [1, 2, 3] | select("odd") | list }} {{ "ab" | list }}',
      "BA [1, 3] ['a', 'b']",
    ],
    [
      '{{ ", ".join(["a", "b"]) }} {{ "banana".count("an") }} {{ "ab".find("b") }} {{ "😀" | length }} {{ "x" | int(7) }}',
      'a, b 2 1 1 7',
    ],
    [
      '{% for m in messages %}{{ loop.depth }}{% for n in "ab" %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}{% endfor %}',
      '110101101011010',
    ],
    [
      '{{ [[1, 2], [3, 4]] | map(attribute=0) | list }} {{ [{"a": [5, 6]}] | map(attribute="a.1") | list }} {{ [[0, 1], [2, 3]] | selectattr(0) | list }}',
      '[1, 3] [6] [[2, 3]]',
    ],
    [
      '{% for a, b in [("x", 1), ["y", "z"]] %}{{ a }}{{ b }}{% endfor %}{% for a, b in (("x", 1), ("y", 2)) if b > 1 %}{{ a }}{% endfor %}',
      'x1yzy',
    ],
    [
      '{{ [(1, "a"), {"b": (2, 3)}] | tojson }}{{ (1, (2, 3)) | tojson(separators=(",", ":")) }}',
      '[[1, "a"], {"b": [2, 3]}][1,[2,3]]',
    ],
    ['{{ (1, 2) == (1, 2) }}{{ (1, 2) == [1, 2] }}{{ ("a", [(1, 2)]) }}', "TrueFalse('a', [(1, 2)])"],
    ['{% for k, v in missing | items %}x{% endfor %}{{ missing | default }}{{ 0 | default }}', '0'],
    ['{{ "a\r\n\x0bb\u2028" | indent(1) }}|', 'a\n\n b\n|'],
    [
      "{{ missing | default(default_value='x') }}{{ '' | default(default_value='y', boolean=true) }}{{ '' | default('z', true) }}{{ '' | default('z') }}.",
      'xyz.',
    ],
    ["{{ 'ab'.startswith(('b', 'a')) }}{{ 'ab'.endswith('a') }}{{ '0x1f' | int }}{{ '0b1' | int(7) }}", 'TrueFalse07'],
    ["{{ 'a\x1cb \ufeffc'.split() }}{{ ' a b '.split(' ') }}", "['a', 'b', '\\ufeffc']['', 'a', 'b', '']"],
    [
      '{% set gears = {0: 1, 512: 128, "x": none} %}{{ gears }}{{ gears[512] }}{{ gears.get(0) }}{{ 512 in gears }}{{ "0" in gears }}',
      "{0: 1, 512: 128, 'x': None}1281TrueFalse",
    ],
    [
      '{% for k, v in {8: "b", 1: "a"} | dictsort %}{{ k + 1 }}{{ v }}{% endfor %}{% for k in {true: 1, 1.5: 2, none: 3} %}{{ k }}{% endfor %}',
      '2a9bTrue1.5None',
    ],
    [
      '{{ {"a": 1}.items() }}{{ {"a": 1} | items | list }}{{ {"a": 1}.keys() }}{{ {"a": 1}.values() }}{{ (1, 2, 3)[1:] }}',
      "dict_items([('a', 1)])[('a', 1)]dict_keys(['a'])dict_values([1])(2, 3)",
    ],
    [
      '{{ {"b": 2.0, "A": [none, "\x7f"], 1: {}} | tojson(indent=0) }}{{ [0.00001, 2.5, -0.0] | tojson }}',
      '{\n"b": 2.0,\n"A": [\nnull,\n"\x7f"\n],\n"1": {}\n}[1e-05, 2.5, -0.0]',
    ],
    [
      '{{ {"b": 1, "a": 2, "B": "\x7fé"} | tojson(ensure_ascii=true, indent="-", sort_keys=true) }}',
      '{\n-"B": "\\u007f\\u00e9",\n-"a": 2,\n-"b": 1\n}',
    ],
    [
      '{{ "\na\n\nb" | indent(2, true) }}|{{ "a\n\nb" | indent("--", blank=true) }}|{{ "a\n" | indent }}|',
      '  \n  a\n\n  b|a\n--\n--b|a\n|',
    ],
    [
      '{{ "\'"|safe + "<a>" + "<"|safe }}{{ ("<a>" | e) + "\'b" }}{{ "<a>" | escape ~ "<" }}',
      "'&lt;a&gt;<&lt;a&gt;&#39;b&lt;a&gt;<",
    ],
    [
      '{{ "1_0" | int }}{{ none | int }}{{ "x" | float(1.5) }}{{ "1.5x" | float }}{{ "12" is upper }}{{ "A1" is upper }}{{ "ßa".title() }}',
      '1001.50.0FalseTrueSsa',
    ],
    [
      '{{ "<t>x</t>".removeprefix("<t>").removesuffix("</t>") }}{{ "a\r\nb\n".splitlines() }}{{ "a b  c ".split(none, 1) }}{{ "a,b,c".split(",", maxsplit=1) }}{{ "aaa".replace("a", "b", count=2) }}',
      "x['a', 'b']['a', 'b  c ']['a', 'b,c']bba",
    ],
    [
      '{{ "a" < "b" }}{{ [1, 2, 3] | select(">=", 2) | list }}{{ dict({"a": 1}, b=2) }}{{ dict(a=1, **{"b": 2}) }}{{ missing | d("x") }}{{ "ab" | reverse }}',
      "True[2, 3]{'a': 1, 'b': 2}{'a': 1, 'b': 2}xba",
    ],
    [
      '{{ "%s of %s%%" | format("a", 1) }}{{ ["<%s>"] | map("format", none) | list }}{{ "%s" % [1] }}{{ "%s-%s" % (2.0, missing) }}',
      "a of 1%['<None>'][1]2.0-",
    ],
    [
      '{{ "😀b😀".rfind("😀") }}{{ "a".rfind("x") }}{{ ["a", "b"][true] }}{{ "ab"[false] }}{{ {true: 1}[true] }}',
      '2-1ba1',
    ],
    [
      '{{ range(5) }}{{ [range(1, 9, 2)] }}{{ range(2) | list }}{{ range(3) == range(0, 3) }}{{ missing is sequence }}',
      'range(0, 5)[range(1, 9, 2)][0, 1]TrueTrue',
    ],
    // Raw blocks are texts, whose ends remove white space as those of other blocks.
    ['{% raw %}{{ x }}\n"{% if %}\u2028{% endraw %}', '{{ x }}\n"{% if %}\u2028'],
    ['a {%- raw -%} \n{{x}} {%- endraw -%} \n b{% raw %}{{% endraw %}{% if true %}{% endif %}', 'a{{x}}b{'],
    ['  {% raw %}\n x\n  {% endraw %}\ny{%+ raw %}{# z #}\n {%+ endraw +%}\n.', '\n x\ny{# z #}\n \n.'],
    ['{# {% raw %} #}{{ "{% raw %}" }}{% raw %}a{% raw %}b{% endraw %}', '{% raw %}a{% raw %}b'],
    // White space around tags, and what looks like it.
    ['x -}\ny %}\nz #}\n  {-w', 'x -}\ny %}\nz #}\n  {-w'],
    ['{{ "a%}\nb" }}{{ \'a\n  {%- "b\' }}', 'a%}\nba\n  {%- "b'],
    ['\u3000{% if true %}x\n\f{% endif %}y{# c #}\n  {# d -#}\n z', 'x\nyz'],
    ['a\ufeff{{- 1 -}}\x85 b {##}\nc', 'a\ufeff1b c'],
    ['{\n{%- if true %}"a"{% endif -%}\n}\n  {{- {"a": {"b": 1}} -}}\n !', "{\"a\"}{'a': {'b': 1}}!"],
    ['{%- generation -%} a {%endgeneration-%} b {', 'a b {'],
    [' {%+ if true %}\na\n{% endif +%}\n{#-#}\n{#--#}\n b', ' a\nb'],
    // Jinja's grammar.
    ['{% with a = 1, b = a %}{{ a }}{{ b }}{% set c = 2 %}{% endwith %}{{ a }}{{ c is defined }}', '1False'],
    [
      '{% for m in messages %}{% with r = loop.index %}{{ r }}{% if r == 1 %}{% continue %}{% endif %},{% endwith %}{% endfor %}',
      '12,3,',
    ],
    [
      '{% for x in [1, [2, [3]]] recursive %}({{ loop(x) if x is iterable else x }}{{ loop.depth }}){% endfor %}',
      '(11)((22)((33)2)1)',
    ],
    [
      '{% for a in "xyz" %}{{ loop.cycle(1, 2) }}{{ loop.changed(loop.index > 1) }}{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}',
      '1True2True1False6',
    ],
    ['{% for a in 1, 2 %}{{ a }}{% continue %}{% else %}.{% endfor %}{% if 0: %}a{% endif %}', '12.'],
    [
      '{{ 1 in [1] == true }}{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ 1 < 3 == 3 }}{{ "a" in "ab" in ["ab"] }}',
      'FalseTrueFalseTrueTrue',
    ],
    [
      '{{ 4 is divisibleby 2 }}{{ 4 is divisibleby(3) }}{{ none is sameas none }}{{ 2 is not in [1] }}{{ 2 is ge(2) and 1 is lt 1 }}{{ 3.0 is odd }}',
      'TrueFalseTrueTrueFalseTrue',
    ],
    [
      '{{ 1e3 }} {{ 1_000 }} {{ 0x1F + 0b11 }} {{ (1,) }} {{ () }} {{ 1, 2 }} {{ [1, 2,] }} {{ "a" ~ 1 * 2 ~ "b" }}',
      '1000.0 1000 34 (1,) () (1, 2) [1, 2] a2b',
    ],
    ["{{ '\\d\\-\\101\\x41\\u00e9\\U0001F600' 'a\\\nb' }}", '\\d\\-AAé😀ab'],
    [
      '{% set x | upper | replace("B", "-") %}abc{% endset %}{{ x }}{% filter upper | reverse %}abc{% endfilter %}{{ 1 is number | string }}',
      'A-CCBATrue',
    ],
    [
      '{{ {true: "x"}[1] }}{{ {1: "a", true: "b"} }}{{ 0 in {false: 1} }}{{ {1: 2} == {true: 2} }}',
      "x{1: 'b'}TrueTrue",
    ],
    [
      '{{ [3, 1] | sum }} {{ [{"n": 1}, {"n": 2.5}] | sum(attribute="n", start=1) }} {{ [] | sum }} {{ ["b", "A"] | min }} {{ ["b", "A"] | max(case_sensitive=true) }} {{ [] | max is defined }} {{ [{"n": 2}, {"n": 1}] | min(attribute="n") }}',
      "4 4.5 0 A b False {'n': 1}",
    ],
    [
      '{% for g in [{"r": "b", "n": 1}, {"r": "A"}, {"r": "a"}] | groupby("r") %}{{ g.grouper }}{{ g.list | length }}{{ g[0] }}{% endfor %}{{ [{"n": 1}, {}] | groupby("n", default=0) }}',
      "A2Ab1b[(0, [{}]), (1, [{'n': 1}])]",
    ],
    [
      '{{ "%d|%5d|%-3d|%05d|%x|%X" | format(7.9, 42, 1, -3, 255, 255) }}|{{ "%.1f %6.2f %f" % (2.25, 2.345, 1) }}|{{ "%.2s%3s%r" % ("abc", "😀", "e") }}',
      "7|   42|1  |-0003|ff|FF|2.2   2.35 1.000000|ab  😀'e'",
    ],
    [
      '{{ 2.5 | round }} {{ 3 | round }} {{ 0.125 | round(2) }} {{ 1.21 | round(1, "ceil") }} {{ -2.5 | round(method="floor") }}',
      '2.0 3 0.12 1.3 -3.0',
    ],
    [
      '{{ [[2, "b"], [1, "a"]] | sort }}{{ (1, 2) < (1, 3) }}{{ [1] < [1, 0] }}{{ [0] * 2 }}{{ 2 * "ab" }}{{ (1,) + (2,) }}{{ true + 1 }}',
      "[[1, 'a'], [2, 'b']]TrueTrue[0, 0]abab(1, 2)2",
    ],
  ])('%s', (template, text) => {
    expect(rendered(template, messages)).toBe(text);
  });

  it('takes variables before functions of their names', () => {
    const chat_template_kwargs = { range: 'a', namespace: 1, strftime_now: [2] };
    expect(rendered('{{ range }}{{ namespace }}{{ strftime_now }}', messages, { chat_template_kwargs })).toBe('a1[2]');
  });

  // Python 3.14's results in the C locale.
  it.each([
    [
      new Date(2026, 0, 4, 0, 5, 9),
      'Sun Sunday Jan January Sun Jan  4 00:05:09 2026|20 04 01/04/26  4|2026-01-04 26 2026 Jan 00 12 004  0 12|01 05 AM am 12:05:09 AM|00:05 09 00:05:09 7 01 01 0 00|01/04/26 00:05:09 26 2026 000000|4 4 JAN 04  4',
    ],
    [
      new Date(2024, 11, 30, 12, 0, 0),
      'Mon Monday Dec December Mon Dec 30 12:00:00 2024|20 30 12/30/24 30|2024-12-30 25 2025 Dec 12 12 365 12 12|12 00 PM pm 12:00:00 PM|12:00 00 12:00:00 1 52 01 1 53|12/30/24 12:00:00 24 2024 000000|30 365 DEC 30 30',
    ],
    [
      new Date(2021, 0, 1, 23, 59, 59),
      'Fri Friday Jan January Fri Jan  1 23:59:59 2021|20 01 01/01/21  1|2021-01-01 20 2020 Jan 23 11 001 23 11|01 59 PM pm 11:59:59 PM|23:59 59 23:59:59 5 00 53 5 00|01/01/21 23:59:59 21 2021 000000|1 1 JAN 01  1',
    ],
  ])('formats dates as strftime: %s', (date, text) => {
    const format =
      '%a %A %b %B %c|%C %d %D %e|%F %g %G %h %H %I %j %k %l|%m %M %p %P %r|%R %S %T %u %U %V %w %W|%x %X %y %Y %f|%-d %-j %^b %0e %_d';
    vi.useFakeTimers({ now: date, toFake: ['Date'] });
    try {
      expect(rendered(`{{ strftime_now("${format}") }}`, messages)).toBe(text);
      expect(rendered('{{ strftime_now("%z%Z%n%t%%%q%Q% ") }}', messages)).toBe('\n\t%%q%Q% ');
    } finally {
      vi.useRealTimers();
    }
  });

  it('has dates in English', () => {
    const now = new Date();
    const month = now.toLocaleString('en-US', { month: 'long' });
    const text = `${String(now.getDate()).padStart(2, '0')} ${month.slice(0, 3)} ${month} ${now.getFullYear()} % %q`;
    expect(rendered('{{ strftime_now("%d %b %B %Y %% %q") }}', messages)).toBe(text);
  });

  it.each([
    ["{{ [1] | select('unknown') | list }}", 'unknown'],
    ['{{ none | length }}', 'null is not iterable'],
    ['{{ 5 | first }}', 'integer is not iterable'],
    ["{{ ','.join([1, 'a']) }}", 'integer is no text'],
    ["{{ 'a'.find(missing) }}", 'undefined is no text'],
    ["{{ messages | sort(attribute='role,content') }}", 'sort: it takes one attribute'],
    ["{{ 'a'.count() }}", 'count: 0 arguments'],
    ["{{ 'a'.strip('a', 'b') }}", 'strip: 2 arguments'],
    ['{% break %}', 'are for loops'],
    ['{{ 1 / 0 }}', 'division by zero'],
    ['{{ 1.5 // 0 }}', 'division by zero'],
    ['{{ 7 % 0 }}', 'division by zero'],
    ['{{ strftime_now("%10d") }}', 'strftime_now: %10d is not supported'],
    ['{{ strftime_now("%Y %Ey") }}', 'strftime_now: %Ey is not supported'],
    ['{{ strftime_now("%:z") }}', 'strftime_now: %:z is not supported'],
    ['{{ messages[0].name.first }}', 'messages.0.name is undefined'],
    ['{{ messages[1].content + messages[1].name }}', 'messages.1.name is undefined'],
    ['{{ "a" + none_such }}', 'none_such is undefined'],
    ['{{ "a" + messages[0] }}', 'string and object cannot be added: messages.0'],
    ['{{ messages.strip() }}', 'messages: array has no strip'],
    ['{{ messages[0].name.strip() }}', 'messages.0.name is undefined'],
    ['{{ render(messages) }}', 'render is undefined, not a function'],
    ['{% for part in messages[0].parts or none %}{% endfor %}', 'null is not iterable'],
    ['{% set parts = none %}{% for part in parts %}{% endfor %}', 'parts: null is not iterable'],
    ['{{ parts | tojson }}', 'undefined cannot be written as JSON'],
    ['{{ {[1]: 2} }}', 'array is no key'],
    ['{{ "f" | int(base=16) }}', 'int: only the base 10 is known'],
    ['{{ [1] | join(",", by="role") }}', 'join: 2 arguments are too few or too many'],
    ['{{ "a" | replace("a") }}', 'replace: 1 arguments are too few or too many'],
    ['{{ 1 | sums }}', 'Unknown filter: sums'],
    ['{{ "%s" | format }}', 'format: %s is unknown, or has no value'],
    ['{{ "%e" % 5 }}', 'format: %e is unknown, or has no value'],
    ['{{ "%d" % "5" }}', 'string is no number'],
    ['{{ "%x" % 1.5 }}', 'float is no integer'],
    ['{{ "%s" | format(1, 2) }}', 'format: 2 values, 1 places'],
    ['{{ 9007199254740992 }}', '9007199254740992 is beyond 2 ** 53: give it as a text'],
    ['{{ [2 ** 54] | tojson }}', '18014398509481984 is beyond 2 ** 53'],
    ['{{ range(3) | tojson }}', 'range(0, 3) cannot be written as JSON'],
    ['{{ messages[0].content.strip }}', 'function cannot be written'],
    ['{{ namespace(a=1) }}', 'namespace cannot be written'],
    ['a\n{% raw %}a', 'line 2: a raw block has no end'],
    ['{% if true %}x', 'line 1: it ends within a tag or a block'],
    ['{# a', 'a comment has no end'],
    ['{{ ( }}', 'unexpected }'],
    ['\n{{ ? }}', 'line 2: unexpected "?"'],
    ['{{ a b }}', '"b" in place of }}'],
    ['{% if a = 1 %}{% endif %}', '"=" in place of %}'],
    ['{% do x %}', 'Unknown statement type: do'],
    ['{% set 1 = 2 %}', 'only names can be set'],
    ['{% set a.b.c = 2 %}', '"." in place of %}'],
    ['{{ [x for x in y] }}', '"for" in place of ,'],
    ['{{ 1 is odd is even }}', 'tests do not follow each other'],
    ['{{ "\\x1" }}', 'is no escape sequence'],
    ['{% for a, b in [1] %}{% endfor %}', 'integer is not iterable'],
    ['{% for a, b in [[1]] %}{% endfor %}', '1 values are not 2'],
    ['{% set messages.role = 1 %}', 'array has no attributes to set'],
    ['{% for m in messages %}{{ loop(m) }}{% endfor %}', 'loop is object, not a function'],
    ['{{ 1 + 2 ~ 3 }}', 'integer and string cannot be added'],
    ['{{ (1,) + [2] }}', 'array and array cannot be added'],
    ['{{ "a" * 1.5 }}', 'string and float cannot be multiplied'],
    ['{{ none | round }}', 'null is no number'],
    ['{{ 4 is divisibleby 0 }}', 'division by zero'],
    ['{% set parts = none %}{{ "a" in parts }}', 'parts is null'],
    ['{{ missing["a"] }}', 'missing is undefined'],
    ['{{ "ab".index("z") }}{{ "ab".find("z") }}', 'index: the text does not have this part'],
    ['{{ [1].index(2) }}', 'index: the list does not have this item'],
    ['{{ "ab".partition("") }}', 'partition: the separator is empty'],
    ['{{ "ab".center(10 ** 9) }}', 'are too many'],
    ['{{ "ab".ljust(4, "--") }}', 'it is filled with one character'],
    ['{{ [1] | batch(0) }}', 'batch: a batch has one item or more'],
    ['{{ [1] | batch(10 ** 9, 0) }}', 'are too many'],
    ['{{ [] | slice(10 ** 9) }}', 'are too many'],
    ['{{ "ab" | attr("upper") }}', 'attr: upper is a method'],
    ['{{ "ab"[::0] }}', 'slice step cannot be zero'],
    ['{% macro m(a) %}{% endmacro %}{{ m(b=1) }}', 'm: it has no parameter b'],
    ['{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}', 'm: 2 arguments are too many'],
    ["{{ range(**{'a': 1}) }}", 'range: it has no parameter a'],
    ['{{ cycler() }}', 'cycler: it takes items'],
    ['{% macro m(a, b) %}{% endmacro %}{{ m(1, a=2) }}', 'm: a is given twice'],
    ["{{ raise_exception('a', 'b') }}", 'raise_exception: 2 arguments are too many'],
    ["{{ raise_exception(message='a') }}", 'a'],
    ['{{ joiner()(1) }}', 'joiner: 1 arguments are too many'],
    ['{{ range(*range(200000)) }}', '200000 arguments are too many'],
  ])('%s is refused', (template, why) => {
    expect(() => rendered(template, messages)).toThrow(why);
  });
});
