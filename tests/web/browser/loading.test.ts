// One's own checkpoint on the page: what is wrong is said with its cause, and the page stays usable.

import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

const folder = new URL('../../../web/demo/public/models/stories260K/', import.meta.url);
const read = (name: string): Buffer => readFileSync(new URL(name, folder));
type Files = Record<string, Buffer>;
const sound = (): Files =>
  Object.fromEntries(
    ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map((name) => [name, read(name)]),
  );

let site: Site;
let open: OpenPage;
let story: StoryPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({}, 'own');
  story = new StoryPage(open.page);
});
afterAll(() => site.stop());

async function give(files: Files): Promise<void> {
  const list = Object.entries(files).map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer }));
  await open.page.setInputFiles('#files', list);
}

/** What the page says of files it cannot load. */
async function complaintAbout(files: Files): Promise<string> {
  const note = open.page.locator('model-bar error-note [role=alert]');
  if ((await note.count()) > 0) await note.getByRole('button').click();
  await give(files);
  await note.waitFor();
  return (await note.textContent()) ?? '';
}

function withHeaderLength(length: bigint): Buffer {
  const bytes = Buffer.from(read('model.safetensors'));
  bytes.writeBigUInt64LE(length);
  return bytes;
}

describe('a sound checkpoint', () => {
  it('is loaded, and the page says what it is', async () => {
    await give(sound());
    await open.page.locator('model-bar .name', { hasText: 'your files' }).waitFor();
    await story.write('Once upon a time', 20, 'the likeliest');
    expect(await story.text()).toContain('there was a little girl');
    expect(await open.page.locator('model-bar section').textContent()).toMatch(/5 layers × 8 heads/);
    const facts = await open.page.locator('#facts').textContent();
    expect(facts).toMatch(/LlamaForCausalLM.*decoder-only.*text generation/);
    expect(facts).toMatch(/model\.safetensors 525 kB/);
  });
});

describe('a checkpoint that is not well formed', () => {
  it.each<[string, () => Files, RegExp]>([
    [
      'a truncated weights file',
      () => ({ ...sound(), 'model.safetensors': read('model.safetensors').subarray(0, 9000) }),
      /malformed_file/,
    ],
    ['a huge header', () => ({ ...sound(), 'model.safetensors': withHeaderLength(2n ** 60n) }), /malformed_file/],
    ['no weights', () => ({ ...sound(), 'model.safetensors': Buffer.alloc(0) }), /malformed_file/],
    [
      'a broken configuration',
      () => ({ ...sound(), 'config.json': Buffer.from('{"model_type": "llama",') }),
      /malformed_config/,
    ],
    [
      'a configuration of another shape',
      () => ({ ...sound(), 'config.json': Buffer.from(read('config.json').toString().replace('172', '173')) }),
      /shape_mismatch|malformed/,
    ],
    [
      'another architecture',
      () => ({ ...sound(), 'config.json': Buffer.from('{"model_type": "mamba"}') }),
      /unsupported|malformed_config/,
    ],
    [
      'a missing file',
      () => {
        const { 'config.json': _, ...rest } = sound();
        return rest;
      },
      /file_not_found/,
    ],
  ])('%s is named', async (_, files, code) => {
    const said = await complaintAbout(files());
    expect(said).toMatch(code);
    expect(said).toMatch(/config\.json|model\.safetensors/);
    expect(said).toContain('Still loaded: your files');
  });

  it('an impossible Hub name is refused without asking the network', async () => {
    const note = open.page.locator('model-bar error-note [role=alert]');
    await note.getByRole('button').click();
    await open.page.locator('#hub-id').fill('not a name');
    await open.page.locator('#hub-id').press('Enter');
    expect(await note.textContent()).toContain('not a name');
    await note.getByRole('button').click();
  });

  it('leaves the page as usable as before', async () => {
    await story.write('Once upon a time', 20, 'the likeliest');
    expect(await story.text()).toContain('there was a little girl');
  });
});

describe('files dropped onto the page', () => {
  it('are read like chosen ones', async () => {
    const note = open.page.locator('model-bar error-note [role=alert]');
    await open.page.locator('model-loader file-pick .drop').evaluate((place) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{'], 'config.json'));
      place.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    expect(await note.textContent()).toContain('malformed_config');
    await note.getByRole('button').click();
  });
});

it('complained of nothing in the console', () => {
  expect(open.complaints).toEqual([]);
});

describe('a checkpoint of the Hub', () => {
  const address = 'https://huggingface.co/some/model/resolve/main/';
  const bar = (): Locator => hub.page.locator('model-bar section');
  let hub: OpenPage;
  let held: (() => void) | undefined;
  beforeAll(async () => {
    hub = await site.open({}, 'own');
    await hub.page.route('https://huggingface.co/**', async (route) => {
      const name = route.request().url().replace(address, '');
      const body = sound()[name];
      if (name === 'model.safetensors' && held === undefined) await new Promise<void>((resolve) => (held = resolve));
      await route.fulfill(body ? { body } : { status: 404 }).catch(() => {});
    });
  });

  async function ask(): Promise<void> {
    await hub.page.locator('#hub-id').fill('some/model');
    await hub.page.locator('#hub-id').press('Enter');
  }

  it('shows how far it is, and can be called off', async () => {
    await ask();
    await bar().locator('progress').waitFor();
    expect(await bar().textContent()).toContain('Loading some/model');
    await expect.poll(() => held !== undefined).toBe(true); // the weights are asked for, and not answered
    await bar().getByRole('button', { name: 'Cancel' }).click();
    await bar().locator('progress').waitFor({ state: 'detached' });
    held?.();
    expect(await bar().locator('.name').count()).toBe(0);
    expect(await bar().locator('error-note').count()).toBe(0);
  });

  it('is loaded by its name', async () => {
    await ask();
    await bar().locator('.name', { hasText: 'some/model' }).waitFor();
    const story = new StoryPage(hub.page);
    await story.write('Once upon a time', 20, 'the likeliest');
    expect(await story.text()).toContain('there was a little girl');
    await hub.page.context().close();
  });
});
