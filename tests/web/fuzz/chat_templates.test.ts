// Mutated chat templates with arbitrary conversations: rejected with a typed error, or rendered to text.

import { readFileSync } from 'node:fs';
import { apply_chat_template, type Message } from 'clearformer/chat_template';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedText, fuzz } from '../support/fuzzing.js';
import { fixturePath } from '../support/references.js';

const jsonOf = (name: string) => JSON.parse(readFileSync(fixturePath(name), 'utf8'));
const { templates } = jsonOf('tokenizer_chat/cases.json') as { templates: Record<string, string> };
const words = [
  '{{',
  '}}',
  '{%',
  '%}',
  '{#',
  '-%}',
  ' for ',
  ' in ',
  ' if ',
  ' not ',
  'messages',
  'messages[0]',
  '|tojson',
];
const more = [
  '|length',
  'loop.index',
  '.content',
  '[1:]',
  '["role"]',
  'raise_exception("x")',
  '{% endfor %}',
  '{% set x = 1 %}',
];
const tokenizer = new PreTrainedTokenizer(jsonOf('tokenizer_sample/byte_level_gpt2.json'), {});

it('damaged templates', async () => {
  const draws = fc.record({
    chat_template: damagedText(Object.values(templates), [...words, ...more]),
    messages: fc.array(
      fc.record({
        role: fc.constantFrom('user', 'assistant', 'system', ''),
        content: fc.oneof({ weight: 9, arbitrary: fc.string() }, { weight: 1, arbitrary: anything }),
      }),
    ),
    add_generation_prompt: fc.boolean(),
  });
  const counts = await fuzz('chat templates', 800, draws, ({ messages, ...options }) => {
    const text = apply_chat_template(tokenizer, messages as Message[], { ...options, tokenize: false });
    expect(typeof text).toBe('string');
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});
