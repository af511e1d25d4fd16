// The package in separate programs, from the Hub's stand-in to a running model: second loads, several programs at once,
// one killed while it downloads.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { largeStories } from '../support/checkpoints.js';
import { Hub } from '../support/hub.js';

const files = largeStories();
const dist = new URL('../../../dist/index.js', import.meta.url).href;
const program = `
  import { AutoModelForCausalLM, AutoTokenizer } from '${dist}';
  const told = [];
  const model = await AutoModelForCausalLM.from_pretrained('someone/model', {
    progress_callback: ({ status, file, loaded, total }) => status === 'done' && told.push([file, total]),
  });
  const tokenizer = await AutoTokenizer.from_pretrained('someone/model');
  const ids = await model.generate(tokenizer('Once upon'), { max_new_tokens: 3 });
  console.log(JSON.stringify({ text: tokenizer.batch_decode(ids)[0], told }));
  await model.dispose();`;

let hub: Hub;
let home: string;
beforeEach(async () => {
  hub = await Hub.start({ ...files });
  home = mkdtempSync(join(tmpdir(), 'clearformer-home-'));
});
afterEach(async () => {
  await hub.stop();
  rmSync(home, { recursive: true, force: true });
});

interface Running {
  child: ChildProcess;
  ended: Promise<{ out: string; err: string }>;
}

function start(): Running {
  const env = { ...process.env, HF_HOME: home, HF_ENDPOINT: hub.url };
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', program], { env });
  const ended = new Promise<{ out: string; err: string }>((resolve) => {
    const text = { out: '', err: '' };
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text.out += part;
    });
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      text.err += part;
    });
    child.on('close', () => resolve(text));
  });
  return { child, ended };
}

const total = ['config.json', 'generation_config.json', 'model.safetensors'].reduce(
  (sum, name) => sum + (files[name]?.byteLength ?? 0),
  0,
);

async function expectFine({ ended }: Running): Promise<void> {
  const { out, err } = await ended;
  expect(err).toBe('');
  const { text, told } = JSON.parse(out);
  expect(text).toContain('Once upon');
  expect(told.map(([file]: [string]) => file).sort()).toEqual([
    'config.json',
    'generation_config.json',
    'model.safetensors',
  ]);
  expect(told.every(([, all]: [string, number]) => all === total)).toBe(true);
}

const ofWeights = () => hub.downloads.filter((each) => each.startsWith('model.safetensors'));

describe('a program that loads a model from the Hub', () => {
  it('finds the files of the one before it', async () => {
    await expectFine(start());
    expect(ofWeights()).toEqual(['model.safetensors']);
    hub.seen.length = 0;
    await expectFine(start());
    expect(hub.downloads).toEqual([]);
  });

  it('shares one download with another that begins at the same time', async () => {
    await Promise.all([start(), start()].map(expectFine));
    expect(ofWeights()).toEqual(['model.safetensors']);
    expect(
      readdirSync(join(home, 'hub/models--someone--model/blobs')).filter((name) => name.includes('incomplete')),
    ).toEqual([]);
  });

  it('goes on where one was killed', async () => {
    hub.faults.set('model.safetensors', [{ stallAfter: 9 << 20 }]);
    const killed = start();
    const partial = join(home, 'hub/models--someone--model/.pieces');
    const weights = () => {
      try {
        const notes = readdirSync(partial).filter((name) => /^\w{64}\.clearformer\.incomplete$/.test(name));
        return notes.some((name) => /^\d+ \d+ \w{64}$/m.test(readFileSync(join(partial, name), 'utf8')));
      } catch {
        return false;
      }
    };
    await expect.poll(weights, { timeout: 30_000 }).toBe(true);
    killed.child.kill('SIGKILL');
    await killed.ended;
    hub.seen.length = 0;
    await expectFine(start());
    expect(ofWeights()).toEqual([expect.stringMatching(/^model\.safetensors bytes=(4194304|8388608)-$/)]);
  });
});
