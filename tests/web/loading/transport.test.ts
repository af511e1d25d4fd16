// Server failures during a download and their handling: retried, resumed, or reported with the cause.

import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readRequired } from '../../../web/src/checkpoint/files.js';
import { openSource } from '../../../web/src/checkpoint/source.js';
import { configure } from '../../../web/src/support/config.js';
import { etagOf, type Fault, Hub } from '../support/hub.js';
import { noise } from '../support/noise.js';
import { bench, digestFrom, digestOf, readFile, text } from '../support/reading.js';

const weights = noise(900_000);
const config = text({ model_type: 'test' });
const test = bench(() => ({ 'config.json': config, 'model.safetensors': weights }));
const name = 'model.safetensors';
const cache = 'none';

async function failureOf(work: Promise<unknown>): Promise<Error & { code?: string; details?: { status?: number } }> {
  return work.then(
    () => expect.fail('no error'),
    (thrown: Error) => thrown,
  );
}

/** Its duration in ms. */
async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

describe('a fault that passes', () => {
  const faults: [string, Fault, string[]][] = [
    ['429', { status: 429 }, [name, name]],
    ['408', { status: 408 }, [name, name]],
    ['500', { status: 500 }, [name, name]],
    ['503', { status: 503 }, [name, name]],
    ['a reset before the answer', { reset: true }, [name, name]],
    ['a break in the body', { cutAfter: 300_000 }, [name, `${name} bytes=300000-`]],
    ['a break at the first byte', { cutAfter: 0 }, [name, name]],
    ['a body that is shorter than its header says', { missing: 100_000 }, [name, `${name} bytes=800000-`]],
  ];
  it.each(faults)('%s: is tried again, and no byte twice', async (_, fault, downloads) => {
    test.hub.faults.set(name, [fault]);
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
    expect(test.hub.downloads).toEqual(downloads);
  });

  it.each([
    ['503', { status: 503 }],
    ['a reset', { reset: true }],
  ])('%s in the question whether a file is there', async (_, fault) => {
    test.hub.faults.set('config.json', [{ ...fault, method: 'HEAD' } as Fault]);
    expect(await readFile(test.hub.id, 'config.json', { cache })).toEqual(config);
  });

  it('of a server that knows no ranges: the bytes that are there already are passed over', async () => {
    test.hub.faults.set(name, [{ cutAfter: 300_000 }, { noRanges: true }]);
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
  });

  it('again and again, as long as some bytes arrive in between', async () => {
    configure({ retries: 1 });
    test.hub.faults.set(
      name,
      Array.from({ length: 8 }, () => ({ cutAfter: 100_000 })),
    );
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
    expect(test.hub.downloads).toHaveLength(9);
    expect(test.hub.sent).toBe(weights.byteLength);
  });

  it('is waited out for as long as Retry-After says, in seconds or as a date', async () => {
    const date = () => new Date(Date.now() + 1000).toUTCString(); // full seconds: up to one less
    for (const [again, least] of [
      ['1', 1000],
      [date(), 1],
    ] as const) {
      configure({ retryDelay: 60_000 });
      test.hub.faults.set('config.json', [{ status: 429, headers: { 'retry-after': again } }]);
      const taken = await time(() => readFile(test.hub.id, 'config.json', { cache }));
      expect(taken).toBeGreaterThanOrEqual(least);
      expect(taken).toBeLessThan(20_000);
    }
  });
});

describe('a server that says nothing any more', () => {
  it.each([
    ['after the request', { silent: true }],
    ['in the body', { stallAfter: 400_000 }],
  ] as [string, Fault][])('%s is asked again', async (_, fault) => {
    configure({ timeout: 200 });
    test.hub.faults.set(name, [fault]);
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
  });

  it('is told in the end, with how long and how far', async () => {
    configure({ timeout: 100, retries: 1 });
    test.hub.faults.set(name, [{ stallAfter: 400_000 }, { silent: true }, 'always']);
    const failure = await failureOf(readFile(test.hub.id, name, { cache }));
    expect(failure).toMatchObject({ code: 'network_error', details: { file: name } });
    expect(failure.message).toContain('did not answer for 0.1 s');
    test.hub.faults.set(name, [{ stallAfter: 0 }, 'always']);
    expect((await failureOf(readFile(test.hub.id, name, { cache }))).message).toContain('sent nothing for 0.1 s');
  });
});

describe('a fault that stays is told', () => {
  it.each([
    ['a status', { status: 503 }, 'HTTP 503', { status: 503 }],
    [
      'a wait that is too long',
      { status: 429, headers: { 'retry-after': '3600' } },
      'Retry-After: 3600',
      { status: 429 },
    ],
    ['no permission', { status: 403 }, 'permission', { status: 403 }],
    ['a reset', { reset: true }, 'ECONNRESET', {}],
    ['a body that is too short', { missing: 900_000 }, 'stopped after 0 bytes', {}],
  ] as [string, Fault, string, object][])('%s', async (_, fault, word, details) => {
    configure({ retries: 2 });
    test.hub.faults.set(name, [fault, 'always']);
    const failure = await failureOf(readFile(test.hub.id, name, { cache }));
    expect(failure.message).toContain(word);
    expect(failure).toMatchObject({ code: 'network_error', details: { file: name, ...details } });
    expect(failure.message).not.toContain('fetch failed');
  });

  it.each([403, 404, 429, 503])(
    'status %i of the host that a file is on, by its name and without tokens',
    async (status) => {
      configure({ retries: 0 });
      test.hub.faults.set(name, [{ status }, 'always']);
      for (const token of [false, 'hf_secret'] as const) {
        const { message } = await failureOf(readFile(test.hub.id, name, { cache, token }));
        expect(message).toContain(`${name}: ${test.hub.cdn} `);
        expect(message).not.toMatch(/token|hf_secret/);
      }
    },
  );

  it('a host that is not there, with the reason and without waiting', async () => {
    configure({ retryDelay: 60_000 });
    const stopped = await Hub.start({});
    await stopped.stop();
    const failure = await failureOf(readFile('a/b', 'config.json', { cache, remote_host: stopped.url }));
    expect(failure.message).toContain('ECONNREFUSED');
  });

  it('a repository, a revision, a gate', async () => {
    const message = async (id: string, options = {}) =>
      (await failureOf(readFile(id, 'config.json', { cache, ...options }))).message;
    expect(await message('no/such')).toContain('the Hub has no repository no/such');
    expect(await message(test.hub.id, { revision: 'v9' })).toContain('has no revision v9');
    test.hub.token = 'hf_right';
    expect(await message(test.hub.id)).toContain('pass a token');
    expect(await message(test.hub.id, { token: 'hf_wrong' })).toContain('accept its conditions');
  });

  it('redirects without an end', async () => {
    test.hub.faults.set('config.json', [
      { method: 'HEAD', status: 302, headers: { location: `/${test.hub.id}/resolve/main/config.json` } },
      'always',
    ]);
    configure({ retries: 0 });
    expect((await failureOf(readFile(test.hub.id, 'config.json', { cache }))).message).toContain('redirects');
  });

  it.each(['the Hub', 'another host that it redirects to'])(
    'a file that changes while it is read, of %s',
    async (from) => {
      configure({ retries: 1 });
      const server = createServer((request, response) => {
        response.writeHead(302, { location: test.hub.cdn + request.url }).end();
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      test.hub.files['vocab.txt'] = noise(500_000);
      test.hub.faults.set('vocab.txt', [{ cutAfter: 100_000 }]);
      const folder = openSource(from === 'the Hub' ? test.hub.id : url, { cache });
      const file = await folder.find('vocab.txt');
      test.hub.files['vocab.txt'] = noise(500_000, 2);
      const all = (async () => {
        for await (const chunk of file?.chunks() ?? []) expect(chunk.byteLength).toBeGreaterThan(0);
      })();
      expect((await failureOf(all)).message).toContain('changed on the server');
      server.close();
    },
  );
});

it('a branch that moves while its files are looked for is warned of, once', async () => {
  const folder = openSource(test.hub.id, { cache });
  const old = test.hub.commit;
  await folder.find('config.json');
  await folder.find('generation_config.json');
  expect(test.warnings).toEqual([]);
  for (const commit of ['b', 'c'].map((digit) => digit.repeat(40))) {
    test.hub.commit = commit;
    await folder.find('vocab.txt'); // an answer that there is none has a commit, too
    await folder.find(name);
  }
  const message = expect.stringContaining(`vocab.txt is of commit ${'b'.repeat(40)}, others of ${old}`);
  expect(test.warnings).toEqual([{ code: 'mixed_commits', message }]);
});

describe('a text', () => {
  const config_of = (options = {}) => readRequired(openSource(test.hub.id, { cache, ...options }), 'config.json', {});

  it('that does not end is given up', async () => {
    test.hub.faults.set('config.json', [{ method: 'HEAD', status: 405 }, { endless: true }, 'always']);
    const failure = await failureOf(config_of());
    expect(failure).toMatchObject({ code: 'malformed_config', details: { file: 'config.json' } });
    expect(failure.message).toContain('no more than 33554432 are read');
  });

  it('is read although the answer to HEAD has the length of itself', async () => {
    test.hub.faults.set('config.json', [{ method: 'HEAD', status: 200, headers: { 'content-length': '0' } }]);
    expect((await config_of()).text).toBe(new TextDecoder().decode(config));
  });

  it('that would be too long is not begun', async () => {
    test.hub.faults.set('config.json', [{ method: 'HEAD', status: 200, headers: { 'content-length': '99999999' } }]);
    expect((await failureOf(config_of())).message).toContain('99999999 bytes');
    expect(test.hub.downloads).toEqual([]);
  });
});

describe('a length that a browser is told without the encoding', () => {
  const whole = `"${etagOf('config.json', config)}"`;
  it.each([
    ['is of the compressed form under a weak etag', 20, `W/${whole}`, null],
    ['is of the compressed form under an etag of its own', 20, '"66f2-14"', null],
    ['is of the compressed form, without an etag', 20, undefined, null],
    ["is the file's under its checksum", config.byteLength, whole, config.byteLength],
  ])('%s', async (_, length, etag, size) => {
    const fetch = async (_url: unknown, { method }: RequestInit = {}) => {
      const headers = { 'content-length': String(length), ...(etag && { etag }) };
      const response = new Response(method === 'HEAD' ? null : (config as BodyInit), { headers });
      return Object.defineProperty(response, 'type', { value: 'cors' });
    };
    configure({ fetch: fetch as typeof globalThis.fetch });
    try {
      expect((await openSource('a/b', { cache }).find('config.json'))?.size).toBe(size);
      expect(await readFile('a/b', 'config.json', { cache })).toEqual(config);
    } finally {
      configure({ fetch: undefined });
    }
  });
});

describe('checksums of the Hub', () => {
  it('of large files: another byte is told by both, and that the load is to be repeated', async () => {
    test.hub.faults.set(name, [{ flipAt: 500_000 }]);
    const failure = await failureOf(readFile(test.hub.id, name, { cache }));
    expect(failure).toMatchObject({ code: 'integrity_mismatch', details: { file: name } });
    expect(failure.message).toMatch(/SHA-256 is [0-9a-f]{64}, the server says [0-9a-f]{64}/);
  });

  it('of small files: they are fetched once more, and then taken only if all the same', async () => {
    test.hub.faults.set('config.json', [{ flipAt: 3 }]);
    expect(await readFile(test.hub.id, 'config.json', { cache })).toEqual(config);
    expect(test.warnings).toEqual([]);
    test.hub.faults.set('config.json', [{ flipAt: 3 }, { flipAt: 4 }]);
    expect(await failureOf(readFile(test.hub.id, 'config.json', { cache }))).toMatchObject({
      code: 'integrity_mismatch',
    });
    test.hub.faults.set('config.json', [{ flipAt: 3 }, { flipAt: 3 }]);
    await readFile(test.hub.id, 'config.json', { cache });
    expect(test.warnings).toMatchObject([{ code: 'other_checksum' }]);
  });
});

describe('a token', () => {
  const sentTo = (host: 'hub' | 'cdn') =>
    test.hub.seen.filter((each) => each.host === host).map((each) => each.headers.authorization);

  it('goes to the Hub and not to where it points', async () => {
    test.hub.token = 'hf_secret';
    expect(await digestFrom(test.hub.id, name, { cache, token: 'hf_secret' })).toBe(digestOf(weights));
    expect(new Set(sentTo('hub'))).toEqual(new Set(['Bearer hf_secret']));
    expect(sentTo('cdn')).toEqual([undefined]);
  });

  it('goes to a mirror that is named, and to no other host', async () => {
    test.hub.token = 'hf_secret';
    const { hub } = test;
    configure({ remoteHost: undefined });
    expect(await readFile(hub.id, 'config.json', { cache, token: 'hf_secret', remote_host: hub.url })).toEqual(config);
    const elsewhere = readFile(`${hub.url}/${hub.id}/resolve/main/`, 'config.json', { cache, token: 'hf_secret' });
    expect(await failureOf(elsewhere)).toMatchObject({ code: 'unsupported', details: { option: 'token' } });
    expect(hub.seen.filter(({ headers }) => headers.authorization === undefined)).toEqual([]);
  });

  it("is Python's unless another is given, or none", async () => {
    const { env } = process;
    env.HF_TOKEN = 'hf_of_python';
    try {
      await readFile(test.hub.id, 'config.json', { cache });
      expect(new Set(sentTo('hub'))).toEqual(new Set(['Bearer hf_of_python']));
      test.hub.seen.length = 0;
      await readFile(test.hub.id, 'config.json', { cache, token: false });
      expect(new Set(sentTo('hub'))).toEqual(new Set([undefined]));
      test.hub.seen.length = 0;
      env.HF_HUB_DISABLE_IMPLICIT_TOKEN = 'True';
      await readFile(test.hub.id, 'config.json', { cache });
      await readFile(test.hub.id, 'config.json', { cache, token: 'hf_given' });
      expect(new Set(sentTo('hub'))).toEqual(new Set([undefined, 'Bearer hf_given']));
    } finally {
      env.HF_TOKEN = env.HF_HUB_DISABLE_IMPLICIT_TOKEN = '';
    }
  });

  it.each(['', 'two words', 3, true, null])('%j is refused', async (token) => {
    const failure = await failureOf(readFile(test.hub.id, 'config.json', { cache, token: token as never }));
    expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'token' } });
  });
});

describe('an abort', () => {
  const reason = new Error('no longer wanted');
  const places: [string, string, Fault[]][] = [
    ['while nothing is answered', 'config.json', [{ method: 'HEAD', silent: true }]],
    ['while nothing arrives', name, [{ stallAfter: 400_000 }]],
    ['in the wait before another try', name, [{ status: 429, headers: { 'retry-after': '30' } }]],
  ];
  /** The time in ms until an abort is reported. */
  async function abortTime(file: string, faults: Fault[]): Promise<number> {
    test.hub.faults.set(file, [...faults]);
    const controller = new AbortController();
    const reading = failureOf(readFile(test.hub.id, file, { cache: 'none', signal: controller.signal }));
    await new Promise((done) => setTimeout(done, 300));
    const begun = performance.now();
    controller.abort(reason);
    expect(await reading).toBe(reason);
    return performance.now() - begun;
  }

  it.each(places)('%s ends it within 50 ms, with its reason', async (_, file, faults) => {
    // On a busy machine a single measurement may be longer.
    for (let tries = 0, best = Number.POSITIVE_INFINITY; !(best < 50); tries++) {
      best = Math.min(best, await abortTime(file, faults));
      if (tries === 9) expect(best).toBeLessThan(50);
    }
  });

  it('leaves nothing with its signal, whatever happened', async () => {
    const { signal } = new AbortController();
    test.hub.faults.set(name, [{ status: 503 }, { cutAfter: 1000 }]);
    await readFile(test.hub.id, name, { cache_dir: test.cache_dir, signal });
    await readFile(test.hub.id, name, { cache_dir: test.cache_dir, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('settings', () => {
  it.each([{ timeout: 0 }, { timeout: Number.NaN }, { retries: -1 }, { retryDelay: '5' }])(
    '%j are refused',
    (settings) => {
      expect(() => configure(settings as never)).toThrow(/must be a number/);
    },
  );
});
