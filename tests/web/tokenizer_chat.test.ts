// Rendered chat templates equal transformers', and so do their token ids.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  apply_chat_template,
  type ChatTemplateOptions,
  type Message,
  read_chat_template,
} from 'clearformer/chat_template';
import { AutoTokenizer, ClearformerError, PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { directory } from './support/directory_handle.js';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

interface ChatCase {
  name: string;
  template: string;
  messages: Message[] | Message[][];
  options: Record<string, unknown>;
  rendered: string | string[];
  ids: number[] | number[][];
  refused?: string;
}
const { cases, templates, saved } = JSON.parse(readFileSync(fixturePath('tokenizer_chat/cases.json'), 'utf8')) as {
  cases: ChatCase[];
  templates: Record<string, string>;
  saved: { files: Record<string, string>; loaded: string | Record<string, string> }[];
};
const json = JSON.parse(readFileSync(fixturePath('tokenizer_sample/byte_level_gpt2.json'), 'utf8'));
const special = { bos_token: '<s>', eos_token: '<|endoftext|>', pad_token: '<|endoftext|>' };
const named = Object.entries(templates).map(([name, template]) => ({ name, template }));
const tokenizer = new PreTrainedTokenizer(json, { ...special, chat_template: named });
const hello: Message[] = [{ role: 'user', content: 'Hello' }];

/** Keys that are not options are template variables. */
function optionsOf({ template, options: { mood, ...rest } }: ChatCase): Omit<ChatTemplateOptions, 'tokenize'> {
  return { chat_template: template, ...rest, ...(mood !== undefined && { chat_template_kwargs: { mood } }) };
}

describe('equals transformers', () => {
  it.each(cases)('$name', async (one) => {
    const messages = one.messages as Message[];
    const options = optionsOf(one);
    const text = () => apply_chat_template(tokenizer, messages, { ...options, tokenize: false });
    if (one.refused !== undefined) {
      const refused = await failureOf(text);
      expect(refused.code).toBe('invalid_argument');
      expect(refused.message).toContain(one.refused);
      return;
    }
    expect(text()).toEqual(one.rendered);
    const { input_ids, attention_mask } = apply_chat_template(tokenizer, messages, {
      ...options,
      tokenizer_kwargs: { padding: true },
    });
    const rows = (Array.isArray(one.ids[0]) ? one.ids : [one.ids]) as number[][];
    const mask = attention_mask.tolist() as bigint[][];
    const found = (input_ids.tolist() as bigint[][]).map((row, i) =>
      row.filter((_, at) => mask[i]?.[at] === 1n).map(Number),
    );
    expect(found).toEqual(rows);
  });
});

describe('templates', () => {
  it('come from the configuration, by name or as text', async () => {
    const of = (chat_template: unknown) => new PreTrainedTokenizer(json, { ...special, chat_template });
    const plain = (own: PreTrainedTokenizer, options: ChatTemplateOptions = {}) =>
      apply_chat_template(own, hello, { ...options, tokenize: false });
    expect(plain(of('{{ messages[0].content }}!'))).toBe('Hello!');
    expect(plain(of('a'), { chat_template: '{{ bos_token }}' })).toBe('<s>');
    const several = of([
      { name: 'default', template: 'plain' },
      { name: 'tool_use', template: 'tools' },
    ]);
    expect(plain(several)).toBe('plain');
    expect(plain(several, { tools: [{}] })).toBe('tools');
    expect(plain(several, { tools: [] })).toBe('tools');
    expect(plain(several, { tools: null as never })).toBe('plain');
    expect(plain(several, { chat_template: 'constructor' })).toBe('constructor');
    expect(plain(several, { chat_template: null as never })).toBe('plain');
    expect(plain(several, { chat_template: 'default', tools: [{}] })).toBe('plain');
    expect((await failureOf(() => plain(tokenizer))).message).toContain('chatml, gemma');
    expect((await failureOf(() => plain(of(undefined)))).message).toContain('read_chat_template');
    expect(await failureOf(() => plain(of('{% if %}')))).toMatchObject({ code: 'malformed_config' });
  });

  it('come from a file of their own', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(await read_chat_template({ 'chat_template.jinja': bytes('{{ 1 }}') })).toBe('{{ 1 }}');
    expect(await read_chat_template({ 'chat_template.json': bytes('{"chat_template": "old"}') })).toBe('old');
    expect(await failureOf(() => read_chat_template({}))).toMatchObject({
      code: 'file_not_found',
      details: { file: 'chat_template.jinja' },
    });
  });

  it('of a file of its own come before the one of tokenizer_config.json, and chat_template.json is for processors', async () => {
    const bytes = (value: object | string) =>
      new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
    const told = async (files: Record<string, object | string>) => {
      const all = Object.entries({ 'tokenizer.json': json, ...files }).map(([name, held]) => [name, bytes(held)]);
      const own = await AutoTokenizer.from_pretrained(Object.fromEntries(all));
      return own.chat_template && own.apply_chat_template(hello, { tokenize: false });
    };
    const config = { 'tokenizer_config.json': { chat_template: 'old' } };
    const several = { 'tokenizer_config.json': { chat_template: [{ name: 'default', template: 'old' }] } };
    expect(await told(config)).toBe('old');
    expect(await told({ ...config, 'chat_template.jinja': 'new' })).toBe('new');
    expect(await told({ ...several, 'chat_template.jinja': 'new' })).toBe('new');
    expect(await told({ 'chat_template.jinja': '{{ messages[0].content }}' })).toBe('Hello');
    for (const tokenizer_class of ['BertTokenizer', 'NllbTokenizer']) {
      const ofClass = { 'tokenizer_config.json': { tokenizer_class, chat_template: 'old' } };
      expect(await told({ ...ofClass, 'chat_template.jinja': 'new' })).toBe('new');
    }
    expect(await told({ ...config, 'chat_template.json': { chat_template: 'json' } })).toBe('old');
    expect(await told({ 'chat_template.json': { chat_template: 'json' } })).toBeNull();
  });

  it.each(saved)('of save_pretrained are loaded as transformers loads them: $files', async ({ files, loaded }) => {
    const texts = {
      'tokenizer.json': JSON.stringify(json),
      'tokenizer_config.json': '{"chat_template": "old"}',
      ...files,
    };
    const bytes = Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)] as const);
    const folder = mkdtempSync(join(tmpdir(), 'templates-'));
    for (const [path, held] of bytes) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), held);
    }
    const record = Object.fromEntries(bytes);
    for (const source of [record, folder, directory(record)])
      expect((await AutoTokenizer.from_pretrained(source)).chat_template).toEqual(loaded);
    rmSync(folder, { recursive: true });
  });

  it('know the special tokens of the model by name', async () => {
    const chat_template = '{{ image_token }}|{{ boi }}|{{ bos_token }}';
    const extra_special_tokens = { boi: '<boi>' };
    const own = new PreTrainedTokenizer(json, {
      ...special,
      image_token: '<image>',
      extra_special_tokens,
      chat_template,
    });
    expect(await own.apply_chat_template(hello, { tokenize: false })).toBe('<image>|<boi>|<s>');
    expect(own.special_tokens_map).toMatchObject({ image_token: '<image>', boi: '<boi>' });
    const [image = -1, boi = -1] = own.convert_tokens_to_ids(['<image>', '<boi>']).map(Number);
    expect(own.all_special_ids).toEqual(expect.arrayContaining([image, boi]));
    expect(own.encode('a<image>', { add_special_tokens: false }).at(-1)).toBe(image);
    expect(own.decode([image, boi], { skip_special_tokens: true })).toBe('');
  });

  it('go on in the field of the last message that is named', async () => {
    const chat_template = '{% for m in messages %}<{{ m.thinking }}|{{ m.content }}>{% endfor %}';
    const chat = [...hello, { role: 'assistant', content: 'b', thinking: 'c' }];
    const told = (continue_final_message: boolean | string) =>
      apply_chat_template(tokenizer, chat, { chat_template, continue_final_message, tokenize: false });
    expect([told('thinking'), told('content'), told(true), told(false)]).toEqual([
      '<|Hello><c',
      '<|Hello><c|b',
      '<|Hello><c|b',
      '<|Hello><c|b>',
    ]);
    const own = await tokenizer.apply_chat_template(chat, {
      ...{ chat_template, continue_final_message: 'thinking', tokenize: false },
    });
    expect(own).toBe('<|Hello><c');
  });

  it('calls functions of chat_template_kwargs with plain values', () => {
    const joined = (all: string[], { by }: { by: string }) => all.join(by);
    const chat_template = "{{ joined(['a', 'b'], {'by': '-'}) }}{{ nothing() }}";
    const chat_template_kwargs = { joined, nothing: () => undefined };
    const tokenizer = new PreTrainedTokenizer({ model: { type: 'WordLevel', vocab: { '<s>': 0 }, unk_token: '<s>' } });
    const options = { chat_template, chat_template_kwargs, tokenize: false } as const;
    expect(apply_chat_template(tokenizer, [], options)).toBe('a-bNone');
  });

  it('see no keys that are undefined', () => {
    const chat_template =
      "{{ 'tool_calls' in messages[0] }}|{{ messages[0] | tojson }}|{{ tools | tojson }}|{{ bos_token }}|{{ more is defined }}";
    const tools = [{ type: 'function', function: { name: 'f', description: undefined, required: [1, null] } }];
    const message = { role: 'user', content: [{ type: 'text', text: 'x', more: undefined }], tool_calls: undefined };
    const chat_template_kwargs = { bos_token: undefined, more: undefined };
    expect(
      apply_chat_template(tokenizer, [message], { chat_template, tools, chat_template_kwargs, tokenize: false }).split(
        '|',
      ),
    ).toEqual([
      'False',
      '{"role": "user", "content": [{"type": "text", "text": "x"}]}',
      '[{"type": "function", "function": {"name": "f", "required": [1, null]}}]',
      '<s>',
      'False',
    ]);
  });

  it('may end their lines in any way, as in Jinja', () => {
    const lines =
      '{% for m in messages %}\n<{{ m.content }}>\n{% endfor %}\n{{- "a\nb" }}\n{%- if true %}\nc\n{% endif %}\n';
    const chat = [{ role: 'user', content: 'x\r\ny\rz' }];
    for (const end of ['\n', '\r\n', '\r'])
      expect(
        apply_chat_template(tokenizer, chat, { chat_template: lines.replaceAll('\n', end), tokenize: false }),
      ).toBe('<x\r\ny\rz>\na\nbc\n');
  });

  it('are given what they take', async () => {
    const call = (options: object, chat: unknown = hello) =>
      failureOf(() => apply_chat_template(tokenizer, chat as never, { chat_template: 'x', ...options } as never));
    const wrong: [object, string][] = [
      [{ tools: 'x' }, 'tools: needs an array of objects, got x'],
      [{ tools: [1] }, 'tools: needs an array of objects'],
      [{ documents: {} }, 'documents: needs an array of objects'],
      [{ chat_template_kwargs: 'z' }, 'chat_template_kwargs: needs an object, got z'],
      [{ chat_template_kwargs: [] }, 'chat_template_kwargs: needs an object'],
      [{ continue_final_message: 5 }, "continue_final_message: needs true, false or a field's name, got 5"],
    ];
    for (const [options, message] of wrong) {
      const refused = await call(options);
      expect(refused.code).toBe('invalid_argument');
      expect(refused.message).toContain(message);
    }
    for (const chat of [[null], ['a'], [hello, hello[0]], [hello[0], hello]])
      expect((await call({}, chat)).message).toContain('an array of messages');
    const nothing = { tools: null, documents: null, chat_template_kwargs: null, continue_final_message: null };
    expect(apply_chat_template(tokenizer, hello, { chat_template: 'x', tokenize: false, ...(nothing as object) })).toBe(
      'x',
    );
  });

  it('are awaited, unlike those of transformers.js: what is spread without is no input', async () => {
    const prompt = tokenizer.apply_chat_template(hello, { chat_template: named[0]?.template as string });
    for (const read of [() => ({ ...prompt }), () => (prompt as unknown as { input_ids: unknown }).input_ids])
      expect(await failureOf(read)).toMatchObject({ code: 'invalid_argument', message: /await/ });
    expect(Object.keys(await prompt)).toContain('input_ids');
  });

  it('refuse what cannot be', async () => {
    const call = (options: object) => failureOf(() => apply_chat_template(tokenizer, hello, options as never));
    expect((await call({ chat_template: 'chatml', template: 'x' })).code).toBe('unsupported');
    const both = { chat_template: 'chatml', add_generation_prompt: true, continue_final_message: true };
    expect(await call(both)).toMatchObject({ code: 'invalid_argument', details: { option: 'continue_final_message' } });
    expect((await call({ chat_template: 'chatml', continue_final_message: 'thinking' })).message).toContain('thinking');
    expect((await call({ chat_template: 5 })).message).toContain('chat_template: needs a text, got 5');
    const special_twice = { chat_template: 'chatml', tokenizer_kwargs: { add_special_tokens: true } };
    expect(await call(special_twice)).toMatchObject({
      code: 'invalid_argument',
      details: { option: 'tokenizer_kwargs' },
    });
    for (const chat_template of ['content {{ messages | length }}', '{{ messages[-1].content[1:] }}']) {
      const silent = await call({ chat_template, continue_final_message: true });
      expect(silent).toBeInstanceOf(ClearformerError);
      expect(silent.message, chat_template).toContain('does not appear');
    }
    const going = (content: unknown) =>
      failureOf(() =>
        apply_chat_template(tokenizer, [{ role: 'assistant', content, more: () => 1 }], {
          chat_template: '{{ messages[0].content }}',
          continue_final_message: true,
        }),
      );
    expect((await going(['a', 1])).message).toContain('the last message has no content');
    expect((await going(() => 1)).message).toContain('the last message has no content');
  });
});
