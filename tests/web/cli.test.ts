// The command line: help, version, exit codes, usage errors, standard output that cannot be written, Ctrl-C.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { ProgressBar } from '../../web/src/cli/progress_bar.js';
import { bundledModel, program, run, runProcess, shell } from './support/command.js';
import { fixturePath } from './support/references.js';

const stories = bundledModel('stories260K');
const commands = [
  'inspect',
  'validate',
  'generate',
  'chat',
  'translate',
  'embed',
  'classify',
  'rank',
  'transcribe',
  'tokenize',
];
const timeout = 120_000;

describe('help and version', { timeout }, () => {
  it('names every command', async () => {
    const { code, out, err } = await run(['--help']);
    expect([code, err]).toEqual([0, '']);
    for (const name of commands) expect(out).toMatch(new RegExp(`^ +${name} `, 'm'));
  });

  it.each(commands)('%s tells its options and shows examples', async (name) => {
    const { code, out, err } = await run([name, '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^Usage: clearformer ${name} `));
    expect(out).toMatch(new RegExp(`^Examples:\n.*clearformer ${name} `, 'ms'));
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(130);
  });

  it('wraps to the width of the terminal', async () => {
    const { out } = await run(['rank', '--help'], { columns: 80 });
    const [options = ''] = /^Options:[\s\S]*?\n\n/m.exec(out) ?? [];
    expect(options).toContain('--top-k');
    for (const line of options.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('knows every option of generate() under its own name', async () => {
    const { out } = await run(['generate', '--help']);
    const source = readFileSync(new URL('../../web/src/models/generation_options.ts', import.meta.url), 'utf8');
    const members = /interface GenerationOptions[^{]*\{([\s\S]*?)\n\}/.exec(source)?.[1] ?? '';
    const names = Array.from(members.matchAll(/^ {2}(\w+)\?:/gm), ([, name = '']) => name);
    expect(names.length).toBeGreaterThan(35);
    const notWords = [
      'names_filter',
      'select',
      'tokenizer',
      'signal',
      'streamer',
      'stopping_criteria',
      'logits_processor',
    ];
    for (const name of names.filter((one) => !notWords.includes(one) && !one.startsWith('output_'))) {
      expect(out).toMatch(new RegExp(`^ +--${name.replaceAll('_', '-')} `, 'm'));
    }
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await runProcess(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});

describe('wrong words exit with 2 and say what is wrong', { timeout }, () => {
  it.each([
    [[], 'Usage'],
    [['generat', stories], "unknown command 'generat'.*Did you mean generate"],
    [['help', 'generat'], "unknown command 'generat'.*Did you mean generate"],
    [['inspect'], "missing required argument 'source'"],
    [['inspect', stories, '--yaml'], "unknown option '--yaml'"],
    [['inspect', stories, '--json=yes'], "option '--json' takes no value, got 'yes'"],
    [['generate', stories, 'a', '--do_sample=maybe'], "option '--do-sample' takes no value, got 'maybe'"],
    [['generate', stories, 'a', '--no-do-sample=true'], "option '--no-do-sample' takes no value, got 'true'"],
    [['generate', stories, 'a', '--yaml=true'], "unknown option '--yaml=true'"],
    [['validate', stories, 'more'], 'too many arguments'],
    [['generate', stories], 'needs a text or --input-ids'],
    [['generate', stories, 'a', '--input-ids', '1'], 'needs a text or --input-ids, and not both'],
    [['generate', stories, 'a', '--input-ids', '1,x'], 'x is no token id'],
    [['generate', stories, 'a', 'stray'], 'too many arguments'],
    [
      ['generate', stories, 'a', '--max-new-token', '3'],
      "unknown option '--max-new-token'.*Did you mean --max-new-tokens",
    ],
    [['generate', stories, 'a', '--temperature', 'cold'], "'cold' is invalid. It must be a number"],
    [['generate', stories, 'a', '--eos-token-id', 'x'], 'It must be a number, a JSON list or null'],
    [['generate', stories, 'a', '--dtype', 'q2'], 'fp32, fp16, q8, q4'],
    [['generate', stories, 'a', '--num-threads', '0'], 'from 1 to 64'],
    [['generate', stories, 'a', '--num-threads', '65'], 'from 1 to 64'],
    [['chat'], "missing required argument 'source'"],
    [['chat', stories, '--num-return-sequences', '2'], "unknown option '--num-return-sequences'"],
    [['translate', stories], "missing required argument 'texts'"],
    [['translate', stories, 'a', '--task', 'translate'], 'translation_XX_to_YY'],
    [['embed', stories], 'needs a text or --image'],
    [['embed', stories, '-', '-'], '- can be given once'],
    [['embed', stories, 'a', '--cache-dtype', 'q8'], "unknown option '--cache-dtype'"],
    [['embed', stories, '-', '--image', '-'], '- can be given once'],
    [['embed', stories, '--image', 'a.png', '--normalize'], 'concern texts only'],
    [['classify', stories], 'needs texts or --image'],
    [['classify', stories, 'a', '--image', 'b.png'], 'and not both'],
    [['classify', stories, 'a', '--multi-label'], '--multi-label needs texts and --labels'],
    [['classify', stories, 'a', '--labels', 'x,y', '--text-pair', 'b'], '--text-pair excludes --labels'],
    [['classify', stories, 'a', '--top-k', '0'], 'whole number from 1 up'],
    [['rank', stories, 'a'], "missing required argument 'documents'"],
    [['rank', stories, '-', 'a', '-'], '- can be given once'],
    [['rank', stories, 'a', 'b', '--top-k', 'x'], 'whole number from 1 up'],
    [['rank', stories, 'a', 'b', '--function-to-apply', 'softmax'], 'sigmoid, none'],
    [['transcribe', stories], "missing required argument 'files'"],
    [['transcribe', stories, 'a.wav', '--task', 'sing'], 'transcribe, translate'],
    [['tokenize', stories], "missing required argument 'texts'"],
    [['tokenize', stories, 'a', '--max-length', '3'], 'needs --truncation'],
    [['tokenize', stories, 'a', '--decode'], 'a is no token id'],
    [['tokenize', stories, '1', '--decode', '--truncation'], 'do not go with it'],
  ])('%j', async (words, part) => {
    const { code, out, err } = await run(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(new RegExp(part, 's'));
  });

  it('as a process, too', async () => {
    const { code, out, err } = await runProcess(['inspect', stories, '--yaml']);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/^clearformer: unknown option '--yaml'/)]);
  });
});

describe('what cannot be done exits with 1 and names the cause', { timeout }, () => {
  it.each([
    ['inspect', []],
    ['validate', []],
    ['generate', ['a']],
    ['chat', []],
    ['translate', ['a']],
    ['embed', ['a']],
    ['classify', ['a']],
    ['rank', ['a', 'b']],
    ['transcribe', ['a.wav']],
    ['tokenize', ['a']],
  ])('%s of a folder that is not there', async (name, words) => {
    const { code, out, err } = await runProcess([name, '/there/is/none', ...words]);
    expect([code, out, err]).toEqual([1, '', 'clearformer: /there/is/none is no folder\n']);
  });

  it.each([
    ['-', '-'],
    ['', 'an empty text'],
  ])('a source %j, which is no Hub id', async (source, named) => {
    const { code, out, err } = await run(['inspect', source]);
    expect([code, out, err]).toEqual([1, '', `clearformer: ${named} is no folder\n`]);
  });

  it('a file where a folder is wanted, a server that is not there, a text that is no UTF-8, no text at all', async () => {
    const file = await run(['tokenize', `${stories}/config.json`, 'a']);
    expect([file.code, file.err]).toEqual([1, expect.stringContaining('is a file, not the folder of a model')]);
    const server = await run(['tokenize', 'http://127.0.0.1:9/model', 'a']);
    expect([server.code, server.err]).toEqual([1, expect.stringContaining('network_error')]);
    const bytes = await runProcess(['tokenize', stories, '-'], { stdin: Uint8Array.of(97, 0xff) });
    expect([bytes.code, bytes.err]).toEqual([1, 'clearformer: standard input is no text in UTF-8\n']);
    const nothing = await run(['embed', stories, '-']);
    expect([nothing.code, nothing.err]).toEqual([1, 'clearformer: standard input is empty\n']);
  });

  it('a command that the model has no head for', async () => {
    for (const words of [
      ['classify', stories, 'a'],
      ['translate', stories, 'a'],
      ['rank', stories, 'a', 'b'],
    ]) {
      const { code, out, err } = await run(words);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(
        /^clearformer: unsupported: .*is for .*text-generation, not for (text-class|text-rank|transl)\S* \(commands for it: embed, generate, chat\)\n$/,
      );
    }
  });

  it('generation with a model that generates no text', async () => {
    const { code, out, err } = await run(['generate', bundledModel('vit-mnist'), 'a']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^clearformer: unsupported: generate: .*is for image-.* \(commands for it: .*classify --image\)\n$/,
    );
    const stranger = await run(['generate', fixturePath('adapters/llama'), 'a']);
    expect(stranger.err).toMatch(/^clearformer: unsupported: adapter_config\.json .*load_adapter/);
  });

  it('classes from a model that makes texts of texts', async () => {
    const { code, err } = await run(['classify', fixturePath('models/marian/even'), 'a']);
    expect([code, err]).toEqual([1, expect.stringContaining(' (commands for it: translate, generate)\n')]);
    const headless = await run(['classify', fixturePath('models/t5/even'), 'a']); // T5 may have a head for classes
    expect(headless.code).toBe(1);
    expect(headless.err).toMatch(/^clearformer: missing_tensor: .*says T5ForConditionalGeneration, for translation\n$/);
  });

  it('a text for a model of images', async () => {
    const { code, err } = await run(['classify', bundledModel('vit-mnist'), 'a']);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^clearformer: unsupported: .*is for .*image-classification.*, not for text-classification \(commands for it: .*\bclassify --image\)\n$/,
    );
  });
});

describe('standard output', { timeout }, () => {
  it.each([
    '--help',
    '--version',
    'generate --help',
    `tokenize ${stories} "Once upon a time"`,
    `tokenize ${stories} "Once upon a time" --json`,
    `generate ${stories} "Once upon a time"`,
  ])('a full disk is told: %s', async (words) => {
    const { code, err } = await shell(`"$NODE" "$CLEARFORMER" ${words} > /dev/full`);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^clearformer: standard output cannot be written \(.*ENOSPC/),
    ]);
  });

  it('a reader that has enough ends the program quietly, and soon', async () => {
    const endless = `generate ${stories} "Once upon a time" --max-new-tokens 450 --eos-token-id null`;
    const { code, out, err } = await shell(
      `set -o pipefail; "$NODE" "$CLEARFORMER" ${endless} | head -c 5; "$NODE" "$CLEARFORMER" generate --help | head -1`,
    );
    expect([code, out, err]).toEqual([0, 'Once Usage: clearformer generate [options] <source> [text]\n', '']);
  });

  it('Ctrl-C ends with 130', async () => {
    const words = ['generate', stories, 'Once upon a time', '--max-new-tokens', '490', '--eos-token-id', 'null'];
    const child = spawn(process.execPath, [program, ...words]);
    let err = '';
    child.stderr.on('data', (part) => {
      err += part;
    });
    child.stdout.once('data', () => child.kill('SIGINT'));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, err]).toEqual([130, '']);
  });

  it.each([
    ['generate', '-'],
    ['tokenize', '-'],
    ['embed', '--image', '-'],
    ['chat', '--chat-template', '{{ messages }}'],
  ])('Ctrl-C ends %s, which waits for more of standard input', async (name, ...words) => {
    const child = spawn(process.execPath, [program, name, stories, ...words]);
    child.stdin.on('error', () => {});
    child.stdin.write(' '.repeat(2 ** 20), () => child.kill('SIGINT')); // more than a pipe holds: it is being read
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
  });

  it('progress is a line of the terminal at most', () => {
    let drawn = '';
    const write = (text: string) => {
      drawn += text;
    };
    const { callback } = new ProgressBar({ isTTY: true, columns: 80, write } as never);
    const file = 'model-00001-of-00004.safetensors';
    callback?.({ status: 'progress', name: 'x', file, loaded: 12_345e6, total: 16_060e6, progress: 76.9 });
    expect(drawn).toContain('░ 76 %  12345.0 of 16060.0 MB  model');
    expect(drawn.length).toBeLessThan(80 + '\r\x1b[K'.length); // which take no room
  });

  it('no progress is drawn where nobody looks', async () => {
    const { err } = await runProcess(['generate', stories, 'a']);
    expect(err).toBe('');
  });
});
