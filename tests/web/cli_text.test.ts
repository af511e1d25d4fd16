// The text commands: generate, chat, translate, tokenize, on the bundled models.

import { readFileSync } from 'node:fs';
import { AutoTokenizer, pipeline } from 'clearformer';
import { describe, expect, it } from 'vitest';

import { bundledModel, folderOf, json, numberedText, numberedWords, run, runProcess } from './support/command.js';
import { caseOf, fixturePath } from './support/references.js';
import { wordTokenizer } from './support/word_tokenizer.js';

const stories = bundledModel('stories260K');
const marian = bundledModel('marian-tiny-en-fr');
const prompt = 'Once upon a time';
const timeout = 120_000;

describe('generate', { timeout }, () => {
  it('writes the text of the reference, 200 tokens of it', async () => {
    const reference = caseOf('stories260K', 'greedy_200');
    const words = ['generate', stories, String(reference.options.prompt), '--max-new-tokens', '200'];
    const { code, out, err } = await runProcess([...words, '--eos-token-id', 'null']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`${prompt}${reference.new_text}\n`);
  });

  it('streams the same text that --json holds, for the same seed in every spelling of the options', async () => {
    const options = ['--seed', '7', '--do-sample', '--top-k=40', '--temperature', '0.9', '--max-new-tokens', '40'];
    const streamed = await run(['generate', stories, prompt, ...options]);
    const whole = await json(['generate', stories, prompt, ...options]);
    expect(streamed.out).toBe(`${whole.texts[0]}\n`);
    expect(whole.sequences[0].length).toBe(5 + 40);
    const before = [
      'generate',
      '--seed=7',
      '--do_sample=true',
      '--top_k',
      '40',
      '--temperature=0.9',
      '--max-new-tokens=40',
    ];
    expect((await run([...before, stories, prompt])).out).toBe(streamed.out);
    const greedy = ['--do-sample=false', '--seed', '7', '--max-new-tokens', '40'];
    expect((await run(['generate', stories, prompt, ...greedy])).out).not.toBe(streamed.out);
  });

  it('reads standard input, computes in threads, keeps weights in the dtype asked for: the text stays', async () => {
    const words = ['--max-new-tokens', '20'];
    const { out } = await run(['generate', stories, prompt, ...words]);
    expect((await runProcess(['generate', stories, '-', ...words], { stdin: `${prompt}\n` })).out).toBe(out);
    const inJson = ['--generation-config', '{"max_new_tokens": 20}'];
    expect((await run(['generate', stories, prompt, ...inJson])).out).toBe(out);
    expect((await runProcess(['generate', stories, prompt, ...words, '--num-threads', '3'])).out).toBe(out);
    expect((await run(['generate', stories, prompt, ...words, '--deterministic', '--dtype', 'fp16'])).out).toBe(out);
  });

  it('stops at a stop string, leaves the prompt out, gives no run of tokens twice', async () => {
    const words = ['generate', stories, prompt, '--max-new-tokens', '40'];
    const { out } = await run(words);
    expect(out).toContain('girl ');
    const end = out.indexOf('girl') + 4;
    expect((await run([...words, '--stop-strings', 'girl'])).out).toBe(`${out.slice(0, end)}\n`);
    expect((await run([...words, '--stop-strings', 'xyz', '--stop-strings', 'girl'])).out).toBe(
      `${out.slice(0, end)}\n`,
    );
    expect(prompt + (await run([...words, '--skip-prompt'])).out).toBe(out);
    const { sequences } = await json([...words.slice(0, -1), '80', '--no-repeat-ngram-size', '2']);
    const pairs = sequences[0].slice(1).map((id: number, i: number) => `${sequences[0][i]} ${id}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('has no option for parts of what it does not print', async () => {
    const { code, err } = await run(['generate', stories, 'a', '--select', '{"positions": -1}']);
    expect([code, err]).toEqual([2, expect.stringContaining("unknown option '--select'")]);
  });

  it('gives several sequences of a beam search with their scores', async () => {
    const words = [
      'generate',
      stories,
      prompt,
      '--num-beams',
      '3',
      '--num-return-sequences',
      '2',
      '--max-new-tokens',
      '12',
    ];
    const { texts, sequences, sequences_scores: scores } = await json(words);
    expect([texts.length, sequences.length, scores.length]).toEqual([2, 2, 2]);
    expect(scores[0]).toBeGreaterThanOrEqual(scores[1]);
    expect((await run(words)).out).toBe(`${texts.join('\n')}\n`);
  });

  it('translates with an encoder-decoder, whose scores depend on the dtype', async () => {
    const words = ['generate', marian, 'I want to live in a big city.', '--num-beams', '4', '--deterministic'];
    const exact = await json(words);
    expect(exact.texts).toEqual(['Je veux vivre dans une grande ville.']);
    const scores = (made: { sequences_scores: number[] }) => made.sequences_scores;
    expect(scores(await json([...words, '--dtype', 'fp16']))).toEqual(scores(exact)); // the file contains fp16
    for (const dtype of ['q8', 'q4']) {
      expect(scores(await json([...words, '--dtype', dtype]))).not.toEqual(scores(exact));
    }
  });

  it('takes and gives ids where there is no tokenizer', async () => {
    const folder = folderOf(stories, { 'tokenizer.json': null, 'tokenizer_config.json': null });
    const text = await run(['generate', folder, 'a']);
    expect([text.code, text.err]).toEqual([1, expect.stringContaining('tokenizer.json')]);
    const ids = await run(['generate', folder, '--input-ids', '1,403,407,261,378', '--max-new-tokens', '3']);
    expect(ids).toEqual({ code: 0, out: '1,403,407,261,378,432,383,286\n', err: '' });
    expect(
      await json(['generate', folder, '--input-ids', '[1, 403]', '--max-new-tokens', '1', '--skip-prompt']),
    ).toEqual({
      sequences: [[expect.any(Number)]],
    });
  });

  it('begins an empty text as generate() does without a prompt', async () => {
    const folder = folderOf(fixturePath('models/gpt2/even'), wordTokenizer(64, []));
    const words = ['generate', folder, '', '--max-new-tokens', '4', '--bos-token-id', '5'];
    const { sequences } = await json(words);
    expect(sequences).toEqual([[5, ...sequences[0].slice(1)]]);
    expect(await json([...words, '--skip-prompt'])).toMatchObject({ sequences: [sequences[0].slice(1)] });
    expect(await json(['generate', folder, '--input-ids', '5', ...words.slice(3)])).toEqual({ sequences });
    expect((await run(['generate', folder, '-', ...words.slice(3)], { stdin: '\n' })).out).toBe((await run(words)).out);
    const { code, err } = await run([...words.slice(0, -1), 'null']);
    expect([code, err]).toEqual([1, expect.stringContaining('bos_token_id')]);
  });

  it('refuses by name what the library refuses', async () => {
    const beams = await run(['generate', stories, 'a', '--num-beams', '2', '--stop-strings', 'b']);
    expect([beams.code, beams.err]).toEqual([1, expect.stringContaining('stop_strings')]);
    const range = await run(['generate', stories, 'a', '--top-p', '2', '--do-sample']);
    expect([range.code, range.err]).toEqual([1, expect.stringContaining('"top_p"')]);
    const long = await run(['generate', stories, 'a', '--max-new-tokens', '2000000']);
    expect([long.code, long.out]).toEqual([1, '']);
    const sound = await run(['generate', fixturePath('models/whisper/even'), '--input-ids', '1']);
    expect([sound.code, sound.err]).toEqual([
      1,
      expect.stringMatching(/whisper.* is for automatic-speech-recognition \(.*: transcribe\)/),
    ]);
  });
});

describe('chat', { timeout }, () => {
  const template = '{% for message in messages %}{{ message.content }} {% endfor %}';
  const words = ['chat', stories, '--chat-template', template, '--max-new-tokens', '8'];

  it('answers each line knowing what was said before', async () => {
    const stdin = `${prompt}\nand then\n`;
    const said = await json(words, { stdin });
    expect(said.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const [, first, , second] = said.map(({ content }: { content: string }) => content);
    expect((await runProcess(words, { stdin })).out).toBe(`${first}\n${second}\n`);
    const read = `${prompt} ${first} and then `;
    const [{ input_ids }] = await json(['tokenize', stories, read, '--no-add-special-tokens']);
    const ids = ['--input-ids', String(input_ids), '--max-new-tokens', '8', '--skip-prompt'];
    const { sequences } = await json(['generate', stories, ...ids]);
    const answer = await run(['tokenize', stories, '--decode', String(sequences[0])]);
    expect(answer.out.trim()).toBe(second.trim());
  });

  it('reads a template from a file, and begins with what the system says', async () => {
    const folder = folderOf(undefined, { 'template.jinja': template });
    const said = await json(
      [
        'chat',
        stories,
        '--chat-template',
        `${folder}/template.jinja`,
        '--system-prompt',
        'Lily',
        '--max-new-tokens',
        '3',
      ],
      { stdin: 'runs\n' },
    );
    expect(said.slice(0, 2)).toEqual([
      { role: 'system', content: 'Lily' },
      { role: 'user', content: 'runs' },
    ]);
  });

  it('says nothing to nothing, and needs a template', async () => {
    expect(await run(words)).toEqual({ code: 0, out: '', err: '' });
    const { code, err } = await run(['chat', stories], { stdin: 'Hello\n' });
    expect([code, err]).toEqual([1, expect.stringContaining('chat_template')]);
    const broken = await run(['chat', stories, '--chat-template', '{% for'], { stdin: 'Hello\n' });
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('malformed_config')]);
  });

  it('tells before the first message what is no template', async () => {
    const folder = folderOf(undefined, {});
    for (const [flags, why] of [
      [[], 'the model has no chat_template: --chat-template takes one'],
      [['--chat-template', folder], `--chat-template: ${folder} is a folder, not the file of a template`],
      [['--chat-template', 'none.jinja'], '--chat-template: none.jinja is neither a file nor a template'],
    ] as const) {
      expect(await run(['chat', stories, ...flags])).toEqual({ code: 1, out: '', err: `clearformer: ${why}\n` });
    }
    const chat_template = [{ name: 'short', template }];
    const named = folderOf(stories, { 'tokenizer_config.json': JSON.stringify({ chat_template }) });
    const { code, err } = await run(['chat', named, '--chat-template', 'short', '--max-new-tokens', '2'], {
      stdin: 'Lily',
    });
    expect([code, err]).toEqual([0, '']);
  });

  it('reads lines in UTF-8, without a byte order mark', async () => {
    const said = await json(words, { stdin: '\ufeffLily\r\n\nand Tom' });
    expect([said[0].content, said[2].content, said.length]).toEqual(['Lily', 'and Tom', 4]);
    const bytes = await run(words, { stdin: Uint8Array.of(97, 0xff) });
    expect([bytes.code, bytes.err]).toEqual([1, 'clearformer: standard input is no text in UTF-8\n']);
  });
});

describe('translate', { timeout }, () => {
  it.each(['translation_0_greedy', 'translation_2_greedy', 'translation_2_beam_4'])(
    '%s is the reference',
    async (name) => {
      const { text, options, translation } = caseOf('real_models', name);
      const beams = ['--num-beams', String(options.num_beams), '--max-new-tokens', '40'];
      const { code, out, err } = await run(['translate', marian, String(text), ...beams]);
      expect({ code, out, err }).toEqual({ code: 0, out: `${translation}\n`, err: '' });
    },
  );

  it('translates every line of standard input', async () => {
    const texts = ['I want to live in a big city.', 'Good morning.'];
    const made = await json(['translate', marian, ...texts]);
    expect(made.map(({ text }: { text: string }) => text)).toEqual(texts);
    const lines = made.map((one: { translation_text: string }) => `${one.translation_text}\n`);
    expect((await run(['translate', marian, '-'], { stdin: `${texts.join('\n')}\n` })).out).toBe(lines.join(''));
  });

  it('prints what precedes a text that fails, also with --json', async () => {
    const name = 'tokenizer_config.json';
    const { model_max_length, ...config } = JSON.parse(readFileSync(`${marian}/${name}`, 'utf8'));
    const folder = folderOf(marian, { [name]: JSON.stringify(config) });
    const words = ['translate', folder, 'Good morning.', 'Good '.repeat(2000)];
    const [plain, listed] = [await run(words), await run([...words, '--json'])];
    expect([plain.code, listed.code]).toEqual([1, 1]);
    expect(JSON.parse(listed.out)).toEqual([{ text: 'Good morning.', translation_text: plain.out.trim() }]);
    expect(listed.err).toContain('positions');
  });

  it("does not stream where the task's settings ask for beams", async () => {
    const config = JSON.parse(readFileSync(`${marian}/config.json`, 'utf8'));
    const settings = { translation_en_to_fr: { num_beams: 4 } };
    const folder = folderOf(marian, { 'config.json': JSON.stringify({ ...config, task_specific_params: settings }) });
    const words = [folder, 'Good morning.', '--max-new-tokens', '40', '--task', 'translation_en_to_fr'];
    const beams = await run(['translate', marian, ...words.slice(1), '--num-beams', '4']);
    expect(await run(['translate', ...words])).toEqual({ code: 0, out: beams.out, err: '' });
    const languages = ['--src-lang', 'en', '--tgt-lang', 'fr'];
    expect(await run(['translate', ...words.slice(0, 4), ...languages])).toEqual({ code: 0, out: beams.out, err: '' });
  });

  it('takes the languages of a model of many', async () => {
    const config = { tokenizer_class: 'MBart50Tokenizer' };
    const folder = folderOf(fixturePath('models/mbart/odd'), wordTokenizer(97, ['en_XX', 'ro_RO'], config));
    const options = { max_new_tokens: 6, num_beams: 2 };
    const flags = ['--max-new-tokens', '6', '--num-beams', '2', '--deterministic'];
    await using pipe = await pipeline('translation', folder, { deterministic: true });
    const texts = new Set<string>();
    for (const [src_lang, tgt_lang] of [
      ['ro_RO', 'en_XX'],
      ['en_XX', 'ro_RO'],
    ] as const) {
      const words = ['translate', folder, 'the cat', '--src-lang', src_lang, '--tgt-lang', tgt_lang, ...flags];
      const [wanted] = await pipe('the cat', { ...options, src_lang, tgt_lang });
      expect(await json(words)).toEqual([{ text: 'the cat', ...wanted }]);
      texts.add((await run(words)).out);
    }
    expect(texts.size).toBe(2);
    const { code, err } = await run(['translate', folder, 'the cat', '--src-lang', 'ro_RO', '--tgt-lang', 'xx']);
    expect([code, err]).toEqual([1, expect.stringMatching(/tgt_lang/)]);
    const none = await run(['translate', marian, 'Good morning.', '--tgt-lang', 'fr']);
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/no >>fr<</)]);
  });
});

describe('tokenize', { timeout }, () => {
  it('tells ids, tokens and offsets', async () => {
    const words = ['tokenize', stories, prompt];
    const [made] = await json(words);
    expect(made.input_ids).toEqual([1, 403, 407, 261, 378]);
    expect(made.tokens).toEqual(['<s>', '▁Once', '▁upon', '▁a', '▁time']);
    const parts = made.offset_mapping.map(([start, end]: [number, number]) => prompt.slice(start, end).trim());
    expect(parts).toEqual(['', 'Once', 'upon', 'a', 'time']);
    expect((await run(words)).out.split('\n')[1]).toBe('403\t0-4\t"▁Once"');
    expect((await json([...words, '--no-add-special-tokens']))[0].input_ids).toEqual([403, 407, 261, 378]);
    expect((await json([...words, '--truncation', '--max-length', '3']))[0].input_ids).toEqual([1, 403, 407]);
    expect((await json([...words.slice(0, 2), '-'], { stdin: `${prompt}\r\nOnce` })).length).toBe(2);
    expect(
      (await json([...words.slice(0, 2), '-'], { stdin: '\n' })).map(({ text }: { text: string }) => text),
    ).toEqual(['']);
  });

  it.each(['--my_tag', '--json', '--do_sample=false', '--', '--text_pair'])(
    'the value %s of an option stays what it is',
    async (pair) => {
      const [made] = await json(['tokenize', stories, 'a', '--text_pair', pair]);
      const tokenizer = await AutoTokenizer.from_pretrained(stories);
      expect(made.input_ids).toEqual([...tokenizer('a', { text_pair: pair, return_tensor: false }).input_ids]);
      const { out } = await run(['tokenize', stories, '--json', '--text-pair', pair, '--', 'a']);
      expect(JSON.parse(out)).toEqual([made]);
    },
  );

  it('makes text of ids', async () => {
    const words = ['tokenize', stories, '--decode'];
    expect((await run([...words, '1,403,407', '[261, 378]'])).out).toBe('<s> Once upon\na time\n');
    expect((await run([...words, '-', '--skip-special-tokens'], { stdin: '1 403 407\n' })).out).toBe('Once upon\n');
    for (const [list, why] of [
      ['1,,403', 'Nothing is no token id.'],
      ['[1, 403,]', 'Nothing is no token id.'],
      ['[ ]', 'There is no token id.'],
    ] as const) {
      expect(await run([...words, list])).toEqual({ code: 2, out: '', err: `clearformer: --decode: ${why}\n` });
    }
  });

  it('reads a folder without a model', async () => {
    const folder = folderOf(undefined, { 'tokenizer.json': numberedWords(9) });
    const [made] = await json(['tokenize', folder, numberedText([3, 4, 8])]);
    expect(made.input_ids).toEqual([3, 4, 8]);
  });
});
