// Models over http: Hub ids, folders, various servers, the cache, and aborted downloads.

import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { promisify } from 'node:util';
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  configure,
  inspect,
  type LoadOptions,
  type ProgressInfo,
  pipeline,
} from 'clearformer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shardedStories, storiesFiles } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { MemoryCache } from './support/memory_cache.js';
import { FileServer, gate } from './support/server.js';

const files = storiesFiles();
let server: FileServer;
beforeEach(async () => {
  server = await FileServer.start({ ...files });
  configure({ retryDelay: 5, onWarning: () => {} });
});
afterEach(async () => {
  configure({ remoteHost: undefined, fetch: undefined, retryDelay: undefined, onWarning: undefined });
  await server.stop();
});

async function load(source: string | URL, options: LoadOptions = {}): Promise<ProgressInfo[]> {
  const events: ProgressInfo[] = [];
  const model = await AutoModelForCausalLM.from_pretrained(source, {
    ...options,
    progress_callback: (event) => events.push(event),
  });
  expect((await model({ input_ids: [[1, 403]] })).logits.dims).toEqual([1, 2, 512]);
  await model.dispose();
  return events;
}

const total = ['config.json', 'generation_config.json', 'model.safetensors'].reduce(
  (sum, name) => sum + (files[name]?.byteLength ?? 0),
  0,
);

describe('a server', () => {
  it.each([
    ['as they mostly are', {}],
    ['without HEAD', { noHead: true }],
    ['without content-length', { noLength: true }],
    ['without either', { noHead: true, noLength: true }],
    ['that compresses', { gzip: true }],
    ['that shows a page for what it has not', { page: '<!doctype html><title>App</title>' }],
  ])('%s: the total is known from the start', async (_, options) => {
    server.options = options;
    const events = await load(`${server.url}/models/stories`);
    expect(new Set(events.map((event) => event.total))).toEqual(new Set([total]));
    expect(events.at(-1)).toMatchObject({ status: 'ready', loaded: total });
  });

  it('is asked for the files of the folder, with its query', async () => {
    await load(new URL(`${server.url}/a%20b/stories/?token=1`));
    expect(server.requests).toContain('GET /a%20b/stories/model.safetensors?token=1');
    expect(server.requests.every((request) => request.endsWith('?token=1'))).toBe(true);
  });

  it.each(['localhost:8977', '127.0.0.1', 'ftp://x', 'http://', '/hub', 3])('of %j is none', async (host) => {
    const wrong = (option: string) => ({
      code: 'invalid_argument',
      message: `${option}: must be an http(s) URL, not ${host}`,
      details: { option },
    });
    expect(await failureOf(() => configure({ remoteHost: host as string }))).toMatchObject(wrong('remoteHost'));
    const given = { remote_host: host as string };
    expect(await failureOf(() => load('someone/stories', given))).toMatchObject(wrong('remote_host'));
    process.env.HF_ENDPOINT = String(host);
    try {
      for (const call of [load, inspect, AutoTokenizer.from_pretrained])
        expect(await failureOf(() => call('someone/stories'))).toMatchObject(wrong('HF_ENDPOINT'));
    } finally {
      process.env.HF_ENDPOINT = '';
    }
  });

  it('that no engine reads is refused beside a URL, too', async () => {
    const failure = await failureOf(() => load(`${server.url}/x`, { remote_host: 'http://[' }));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', "remote_host: 'http://[' is no URL"]);
  });

  it('stands for the Hub by id and revision', async () => {
    configure({ remoteHost: `${server.url}/` });
    await load('someone/stories');
    expect(server.requests).toContain('GET /someone/stories/resolve/main/config.json');
    await load('gpt2', { revision: 'refs/pr/1' });
    expect(server.requests).toContain('GET /gpt2/resolve/refs%2Fpr%2F1/model.safetensors');
    await AutoTokenizer.from_pretrained('someone/stories', { revision: 'v2' });
    expect(server.requests).toContain('GET /someone/stories/resolve/v2/tokenizer.json');
    await AutoTokenizer.from_pretrained('stories', { revision: null as never, local_files_only: null as never });
    expect(server.requests).toContain('GET /stories/resolve/main/tokenizer.json');
  });

  it('is reached through the fetch that was configured', async () => {
    const seen: string[] = [];
    configure({
      fetch: (url, init) => {
        seen.push(String(url));
        return fetch(url, init);
      },
    });
    await load(`${server.url}/x`);
    expect(seen).toContain(`${server.url}/x/model.safetensors`);
  });
});

describe('a failure', () => {
  it.each([
    ['a file that is not there', () => delete server.files['config.json'], 'file_not_found', 'config.json', '/x/'],
    [
      'weights that are not there',
      () => delete server.files['model.safetensors'],
      'file_not_found',
      'model.safetensors',
      '/x/',
    ],
    [
      'an error of the server',
      () => (server.options = { status: { 'config.json': 500 } }),
      'network_error',
      'config.json',
      '500',
    ],
    [
      'a model behind a gate',
      () => (server.options = { status: { 'model.safetensors': 401 } }),
      'network_error',
      'model.safetensors',
      'permission',
    ],
    [
      'a page instead of config.json',
      () => {
        delete server.files['config.json'];
        server.options = { page: '<!doctype html>' };
      },
      'malformed_config',
      'config.json',
      'HTML',
    ],
    [
      'a page instead of the weights',
      () => {
        delete server.files['model.safetensors'];
        server.options = { page: '<!doctype html>' };
      },
      'malformed_file',
      'model.safetensors',
      'HTML',
    ],
    [
      'a download that breaks off',
      () => (server.options = { breakAfter: 300_000 }),
      'network_error',
      'model.safetensors',
      'stopped after',
    ],
    [
      'a download that breaks off on a server that tells no sizes',
      () => (server.options = { breakAfter: 300_000, noLength: true }),
      'network_error',
      'model.safetensors',
      'stopped after',
    ],
  ])('names %s', async (_, spoil, code, file, word) => {
    spoil();
    const failure = await failureOf(() => load(`${server.url}/x`));
    expect(failure.message).toContain(word);
    expect(failure).toMatchObject({ code, details: { file } });
  });

  it.each(['RepoNotFound', 'RevisionNotFound'])('%s names no file, and no other format is looked for', async (why) => {
    const asked = new Set<string>();
    const answer = async (url: string | URL | Request) => {
      asked.add(String(url).slice(String(url).lastIndexOf('/') + 1));
      return new Response(null, { status: 404, headers: { 'x-error-code': why } });
    };
    configure({ fetch: answer as typeof fetch });
    const options = { cache: 'none' } as const;
    const piped = (source: string, given: typeof options) => pipeline('text-generation', source, given);
    for (const call of [load, inspect, piped]) {
      const { code, details } = await failureOf(() => call('someone/stories', options));
      expect([code, details?.file, details?.where]).toEqual(['file_not_found', undefined, expect.any(String)]);
    }
    const first = ['config.json', 'generation_config.json', 'model.safetensors'];
    expect([...asked].filter((name) => !first.includes(name) && !name.startsWith('tokenizer'))).toEqual([]);
  });

  it('names a host that does not answer', async () => {
    await server.stop();
    const failure = await failureOf(() => load(`${server.url}/x`));
    expect(failure).toMatchObject({ code: 'network_error' });
    expect(failure.message).toContain(server.url);
    server = await FileServer.start({});
  });
});

describe('the tokenizer of a stream', () => {
  it('is asked for again after a failure', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(`${server.url}/x`);
    const first = async () =>
      (await model.generate_stream({ input_ids: [[1, 403]] }, { max_new_tokens: 1 }).next()).value?.text;
    server.options = { status: { 'tokenizer.json': 503 } };
    expect(await failureOf(first)).toMatchObject({ code: 'network_error', details: { status: 503 } });
    server.options = {};
    expect(await first()).toBe(' upon');
    server.requests.length = 0;
    await first();
    expect(server.requests).toEqual([]);
    await model.dispose();
  });
});

describe('an abort', () => {
  it.each([false, true])('ends a download at once, with its reason (worker: %s)', async (worker) => {
    const stalled = gate();
    server.options = { stall: stalled.passed };
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const begun = performance.now();
    const loading = AutoModelForCausalLM.from_pretrained(`${server.url}/x`, {
      worker,
      signal: controller.signal,
      progress_callback: (event) => {
        if (event.status === 'progress' && event.file === 'model.safetensors') controller.abort(reason);
      },
    });
    await expect(loading).rejects.toBe(reason);
    expect(performance.now() - begun).toBeLessThan(5000);
    stalled.open();
  });

  it('by a timeout rejects as the DOM does', async () => {
    const stalled = gate();
    server.options = { stall: stalled.passed };
    const loading = AutoModelForCausalLM.from_pretrained(`${server.url}/x`, { signal: AbortSignal.timeout(200) });
    await expect(loading).rejects.toMatchObject({ name: 'TimeoutError' });
    stalled.open();
  });
});

describe('the cache', () => {
  const downloads = () => server.requests.filter((request) => request.startsWith('GET')).length;

  it('keeps files and asks whether they are current', async () => {
    server.options = { etag: true };
    const cache = new MemoryCache();
    await load(`${server.url}/x`, { cache, worker: true });
    expect(cache.kept.size).toBe(3);
    expect(downloads()).toBe(3);
    await load(`${server.url}/x`, { cache });
    expect(downloads()).toBe(3);
    const config = JSON.parse(new TextDecoder().decode(server.files['config.json']));
    server.files['config.json'] = new TextEncoder().encode(JSON.stringify({ ...config, note: 'new' }));
    const model = await AutoModelForCausalLM.from_pretrained(`${server.url}/x`, { cache });
    expect(model.config.note).toBe('new');
    expect(downloads()).toBe(4);
    await model.dispose();
  });

  it('does not keep what it could not check later', async () => {
    const cache = new MemoryCache();
    await load(`${server.url}/x`, { cache });
    expect(cache.kept.size).toBe(0);
    const spoilt = new TextEncoder().encode('{').buffer as ArrayBuffer;
    cache.kept.set(`${server.url}/x/config.json`, { body: spoilt, headers: new Headers() });
    await load(`${server.url}/x`, { cache }); // nor does it use such an entry
  });

  it('needs no question about a commit', async () => {
    configure({ remoteHost: server.url });
    const cache = new MemoryCache();
    const revision = '0123456789abcdef0123456789abcdef01234567';
    await load('someone/stories', { cache, revision });
    server.requests.length = 0;
    await load('someone/stories', { cache, revision });
    expect(server.requests.filter((request) => !request.includes('generation'))).toEqual([]);
  });

  it('serves alone with local_files_only', async () => {
    server.options = { etag: true };
    const cache = new MemoryCache();
    const failure = await failureOf(() => load(`${server.url}/x`, { cache, local_files_only: true }));
    expect(failure.code).toBe('file_not_found');
    expect(failure.message).toContain('local_files_only');
    expect(server.requests).toEqual([]);
    await load(`${server.url}/x`, { cache });
    server.requests.length = 0;
    await load(`${server.url}/x`, { cache, local_files_only: true });
    expect(server.requests).toEqual([]);
  });

  it('that is full, or a download that breaks off, leaves nothing behind', async () => {
    server.options = { etag: true };
    const full = new MemoryCache();
    full.full = true;
    await load(`${server.url}/x`, { cache: full });
    const cache = new MemoryCache();
    server.options = { etag: true, breakAfter: 300_000 };
    await failureOf(() => load(`${server.url}/x`, { cache }));
    expect([...cache.kept.keys()].some((key) => key.endsWith('.safetensors'))).toBe(false);
  });
});

describe("the address of a model's page on the Hub", () => {
  it.each([
    ['https://huggingface.co/someone/stories', 'main'],
    ['https://huggingface.co/someone/stories/?library=transformers#uses', 'main'],
    [new URL('https://hf.co/someone/stories'), 'main'],
    ['https://huggingface.co/someone/stories/tree/main', 'main'],
    ['https://huggingface.co/someone/stories/tree/v1.0', 'v1.0'],
    ['https://huggingface.co/someone/stories/tree/refs%2Fpr%2F3/', 'refs%2Fpr%2F3'],
  ])('%s is its id, and revision', async (page, revision) => {
    const asked: string[] = [];
    const answer = async (url: string | URL | Request) => {
      asked.push(String(url));
      return new Response(null, { status: 404 });
    };
    configure({ fetch: answer as typeof fetch });
    expect((await failureOf(() => load(page, { cache: 'none' }))).code).toBe('file_not_found');
    expect(asked).toContain(`https://huggingface.co/someone/stories/resolve/${revision}/config.json`);
    configure({ fetch: undefined });
    await load(page, { cache: 'none', remote_host: server.url });
    expect(server.requests).toContain(`GET /someone/stories/resolve/${revision}/config.json`);
  });

  it('is asked of the host that was configured, with the revision that is given', async () => {
    configure({ remoteHost: server.url });
    await load('https://huggingface.co/someone/stories', { cache: 'none', revision: 'v2' });
    expect(server.requests).toContain('GET /someone/stories/resolve/v2/config.json');
  });
});

describe('one signal', () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  beforeEach(() => void process.on('warning', note));
  afterEach(() => {
    process.off('warning', note);
    expect(warnings.splice(0)).toEqual([]);
  });

  it('for many files and many calls at once: Node warns of nothing, and nothing stays with it', async () => {
    const shards = await FileServer.start(shardedStories());
    const { signal } = new AbortController();
    expect((await inspect(`${shards.url}/x`, { signal })).valid).toBe(true);
    const input = { input_ids: [[1, 403]] };
    for (const worker of [true, false]) {
      const model = await AutoModelForCausalLM.from_pretrained(`${shards.url}/x`, { signal, worker, cache: 'none' });
      const calls = Array.from({ length: 12 }, () => [
        model(input, { signal }),
        model.generate(input, { max_new_tokens: 2, signal }),
      ]);
      await Promise.all(calls.flat());
      await model.dispose();
    }
    await new Promise((resolve) => setTimeout(resolve)); // warnings come in a turn of their own
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await shards.stop();
  });

  it('of many calls ends all of them', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(files);
    const stop = new AbortController();
    const calls = Array.from({ length: 12 }, () =>
      model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 400, signal: stop.signal }),
    );
    stop.abort('enough');
    const ends = await Promise.allSettled(calls);
    expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual(calls.map(() => 'enough'));
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    await model.dispose();
  });
});

it('an error that nobody catches is read at a glance', async () => {
  const entry = new URL('../../dist/node.js', import.meta.url).href;
  const script = `import { AutoTokenizer } from '${entry}'; await AutoTokenizer.from_pretrained('someone/model');`;
  const env = { ...process.env, HF_ENDPOINT: 'http://127.0.0.1:9' };
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  const { stderr } = await run.then(
    () => expect.fail('no error'),
    (thrown: { stderr: string }) => thrown,
  );
  expect(stderr).toMatch(/^ClearformerError: tokenizer.*\.json: .* could not be fetched/m);
  expect(stderr.length).toBeLessThan(5000); // with the line that throws and the stack
});
