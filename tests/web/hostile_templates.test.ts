// Chat templates that loop, recurse or grow without end: rejected after more steps than any conversation needs. Long
// conversations are still rendered.

import { readFileSync } from 'node:fs';
import { apply_chat_template, type Message } from 'clearformer/chat_template';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

const jsonOf = (name: string) => JSON.parse(readFileSync(fixturePath(name), 'utf8'));
const { templates } = jsonOf('tokenizer_chat/cases.json') as { templates: Record<string, string> };
const tokenizer = new PreTrainedTokenizer(jsonOf('tokenizer_sample/byte_level_gpt2.json'), {
  bos_token: '<s>',
  eos_token: '<|endoftext|>',
});
const rendered = (chat_template: string, messages: Message[], more: object = {}) =>
  apply_chat_template(tokenizer, messages, { chat_template, tokenize: false, ...more });
const hello: Message[] = [{ role: 'user', content: 'Hello' }];
const nested = (depth: number, count: string, body: string) =>
  Array.from({ length: depth }, (_, i) => `{% for i${i} in range(${count}) %}`).join('') +
  body +
  '{% endfor %}'.repeat(depth);
const doubling = (start: string, twice: string, used: string) =>
  `{% set ns = namespace(x=${start}) %}{% for i in range(1000) %}{% set ns.x = ${twice} %}{% endfor %}{{ ${used} }}`;
const big = '{% set ns = namespace(x="ab ") %}{% for i in range(20) %}{% set ns.x = ns.x + ns.x %}{% endfor %}';

describe('refused in a second or so', () => {
  it.each([
    ['a range without end', '{% for i in range(10**9) %}x{% endfor %}'],
    ['a range backwards', '{% for i in range(0, 0 - 10**12, -1) %}x{% endfor %}'],
    ['nested loops', nested(5, '1000', 'x')],
    ['nested loops of nothing', nested(5, '1000', '')],
    [
      'loops over everything that is filtered away',
      nested(4, '1000', '{% for m in messages if m.never %}{% endfor %}'),
    ],
    ['a variable that is not there', nested(3, '1000', '{{ nobody }}')],
    ['the date, again and again', nested(3, '1000', '{{ strftime_now("%b %B") }}')],
    ['macros that call themselves twice', '{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}'],
    [
      'macros that branch',
      '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}',
    ],
    ['macros made anew', nested(3, '1000', `{% macro g() %}${'{{ 1 }}'.repeat(9000)}{% endmacro %}`)],
    ['texts that double', doubling('"ab"', 'ns.x + ns.x', 'ns.x')],
    ['texts that are joined twice', doubling('"ab"', 'ns.x ~ ns.x', 'ns.x|length')],
    ['lists that double', doubling('[1]', 'ns.x + ns.x', 'ns.x|length')],
    ['lists within lists', doubling('[1]', '[ns.x, ns.x]', 'ns.x')],
    ['lists within lists as JSON', doubling('[1]', '[ns.x, ns.x]', 'ns.x|tojson')],
    ['objects within objects', doubling('{}', '{"a": ns.x, "b": ns.x}', 'ns.x|tojson')],
    ['texts that replace themselves', `${big}{{ ns.x|replace("a", ns.x)|replace("b", ns.x)|length }}`],
    ['a large text replaced again and again', `${big}${nested(2, '1000', '{% set y = ns.x|replace("a", "b") %}')}`],
    ['a large text split again and again', `${big}${nested(2, '1000', '{% set y = ns.x.split("a") %}')}`],
    ['a large text looked through', `${big}${nested(3, '1000', '{% set y = "c" in ns.x %}')}`],
    [
      'large texts sorted again and again',
      `${big}{% set many = [ns.x, ns.x + "a", ns.x + "b"] %}${nested(3, '1000', '{% set y = many|sort %}')}`,
    ],
    ['a large text stripped again and again', `${big}${nested(3, '1000', '{% set y = ns.x.strip("ab ") %}')}`],
    ['the characters of a large text', `${big}${nested(3, '1000', '{% set y = ns.x|list|length %}')}`],
    ['the length of a large text', `${big}${nested(3, '1000', '{% set y = ns.x|length + ns.x.count("a") %}')}`],
    ['a text ten thousand million times', '{{ "ab" * 10**10 }}'],
    ['a large text between its characters', `${big}{{ ns.x.join(ns.x) }}`],
    ['turns that go on', nested(3, '1000', '{% if true %}{% continue %}{% endif %}')],
    ['wide indents', '{{ "a\nb\nc"|indent(10**9) }}'],
    ['a template of a megabyte', '{{ 1 }}'.repeat(150_000)],
    ['spaces without end', ' \n'.repeat(120_000)],
    ['statements without end', "{%'".repeat(80_000)],
    ['raw blocks without end', '{%raw%}'.repeat(37_000)],
    ['a large text in many places', `${big}{{ "${'%s'.repeat(99)}" % (${'ns.x, '.repeat(98)}ns.x) }}`],
    ['brackets without end', `{{ ${'('.repeat(100_000)}`],
  ])('%s', async (_, template) => {
    const start = performance.now();
    const failure = await failureOf(() => rendered(template, hello));
    expect(performance.now() - start).toBeLessThan(20_000); // some hundred milliseconds on an idle machine
    expect(['unsupported', 'invalid_argument', 'malformed_config']).toContain(failure.code);
    expect(failure.message).toMatch(/^chat_template: /);
  });
});

describe('rendered as ever', () => {
  const turns = (count: number, content: string): Message[] =>
    Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: `${i} ${content}` }));

  it.each(Object.keys(templates).filter((name) => !/tool|refus|rais/.test(name)))(
    '%s, two thousand messages',
    (name) => {
      const template = templates[name] as string;
      const short = rendered(template, turns(4, 'word'));
      const long = rendered(template, turns(2000, 'word'));
      expect(long.length).toBeGreaterThan(short.includes('word') ? 2000 : 0);
    },
  );

  it('a message of megabytes', () => {
    const content = 'some words '.repeat(300_000);
    const text = rendered(templates.chatml as string, [{ role: 'user', content }]);
    expect(text).toContain(content.trim());
  });

  it('a text that grows by each of many tools', () => {
    const tool = (i: number) => ({
      type: 'function',
      function: { name: `tool_${i}`, description: 'word '.repeat(60) },
    });
    const tools = Array.from({ length: 128 }, (_, i) => tool(i));
    const template =
      '{% set ns = namespace(all="") %}{% for tool in tools %}{% set ns.all = ns.all + tool | tojson %}{% endfor %}{{ ns.all }}';
    expect(rendered(template, hello, { tools })).toContain('tool_127');
  });

  it('loops that look at every message for each message', () => {
    const all =
      '{% for a in messages %}{% for b in messages %}{% if b.content == a.content %}.{% endif %}{% endfor %}{% endfor %}';
    expect(rendered(all, turns(600, 'x')).length).toBe(600);
  });

  it('what Jinja has: ranges, dates, constants', () => {
    expect(rendered('{{ range(3)|join(",") }} {{ range(5, 1, -2)|join(",") }} {{ range(2, 2)|length }}', hello)).toBe(
      '0,1,2 5,3 0',
    );
    expect(rendered('{{ True and true and not False and None is none }}', hello)).toBe('True');
    expect(rendered('{{ strftime_now("%Y") }}', hello)).toBe(String(new Date().getFullYear()));
  });
});
