// The reader's own model on the page: its inspection and problems; then running it, and chapters with it.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site, settled } from '../site.js';
import { drawn, shownText } from './reader.js';

type Files = Record<string, Buffer>;
const files = (model: string, names: readonly string[]): Files => {
  const folder = new URL(`../../../../web/demo/public/models/${model}/`, import.meta.url);
  return Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, folder))]));
};
const stories = (): Files =>
  files('stories260K', ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors']);

let site: Site;
let open: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({}, 'own');
});
afterAll(() => site.stop());

async function give(given: Files): Promise<void> {
  const list = Object.entries(given).map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer }));
  await open.page.setInputFiles('figure-own file-pick #files', list);
}

describe('a folder of stories', () => {
  it('is described before it is loaded', async () => {
    await give(stories());
    await open.page.getByText('LlamaForCausalLM').waitFor();
    const text = await shownText(open.page);
    expect(text).toContain('text-generation');
    expect(text).toContain('Every tensor that the model needs is there.');
    const [memory] = await drawn(open.page);
    expect(memory?.source).toBe('inspect(folder).memory / 1e6');
    expect(memory?.dims).toEqual([4]);
  });

  it('is loaded, runs in its form, and in the chapters', async () => {
    await open.page.getByRole('button', { name: /^Load in fp32/ }).click();
    await open.page.getByRole('button', { name: 'Run' }).click();
    await open.page.locator('figure-own output').filter({ hasText: 'Once upon a time' }).waitFor();
    const chips = open.page.locator('figure-own a.chip');
    const others = await chips.evaluateAll((all) => all.map((chip) => chip.getAttribute('href')?.split('?')[0]));
    expect(others).toEqual(['next', 'head', 'heads', 'block', 'saying', 'laboratory'].map((id) => `#/${id}`));
    await chips.first().click();
    await settled(open.page);
    expect(new URL(open.page.url()).hash).toContain('m=own');
    expect(await shownText(open.page)).toContain('She');
    expect(open.complaints).toEqual([]);
    await site.go(open.page, 'own');
  });

  it('is not compared with another model in the laboratory', async () => {
    await site.go(open.page, 'laboratory?m=own&view=compare');
    const text = await shownText(open.page);
    expect(text).toContain('unsupported');
    expect(text).toContain('the files of your own are not kept');
    await site.go(open.page, 'own?m=stories260K');
  });
});

it('a tensor without use is counted', async () => {
  const { 'model.safetensors': weights = Buffer.alloc(0), ...rest } = stories();
  const end = 8 + Number(weights.readBigUInt64LE());
  const header = JSON.parse(weights.subarray(8, end).toString());
  const bytes = weights.length - end;
  const more = JSON.stringify({ ...header, extra: { dtype: 'F32', shape: [2], data_offsets: [bytes, bytes + 8] } });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(more.length));
  const grown = Buffer.concat([length, Buffer.from(more), weights.subarray(end), Buffer.alloc(8)]);
  await give({ ...rest, 'model.safetensors': grown });
  await open.page.getByText('1 tensor has no use in this architecture').waitFor();
});

describe('a model of an address whose chapter is left', () => {
  /** Requests for a file wait until the page gives them up, or for ever. */
  async function held(file: string): Promise<{ asked: Promise<void>; givenUp: Promise<void>; free(): Promise<void> }> {
    const { page } = open;
    const where = `**/stories260K/${file}`;
    const isIt = (request: { url(): string }): boolean => request.url().endsWith(`/stories260K/${file}`);
    await page.route(where, () => {});
    const asked = page.waitForRequest(isIt).then(() => {});
    const givenUp = page.waitForEvent('requestfailed', { predicate: isIt }).then(() => {});
    return { asked, givenUp, free: () => page.unroute(where) };
  }
  const address = (): string => `own?id=${encodeURIComponent(`${site.url}models/stories260K/`)}`;

  /** How many models the reader has opened. */
  const adopted = (): Promise<number> =>
    open.page.evaluate(
      () =>
        (document.querySelector('book-app') as Element & { book: { shelf: { adopted: number } } }).book.shelf.adopted,
    );

  it('is not looked at any longer, and anew when the reader comes back', async () => {
    const { page } = open;
    const { asked, givenUp, free } = await held('config.json');
    await site.go(page, address());
    await asked;
    await site.go(page, 'next');
    await givenUp;
    await free();
    await site.go(page, address());
    await page.getByText('LlamaForCausalLM').waitFor();
  });

  it('is not loaded any longer, and can be loaded again', async () => {
    const { page } = open;
    const { asked, givenUp, free } = await held('tokenizer.json');
    const load = page.getByRole('button', { name: /^Load in/ });
    await load.click();
    await asked;
    await site.go(page, 'next');
    await givenUp;
    await free();
    await site.go(page, address());
    await page.getByText('LlamaForCausalLM').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    const before = await adopted();
    await load.click();
    await expect.poll(adopted).toBe(before + 1);
  });
});

describe('what is wrong is said with its cause', () => {
  it.each([
    ['config.json is missing', ({ 'config.json': _, ...rest }: Files) => rest, /config\.json/],
    [
      'the weights are cut off',
      (given: Files) => ({
        ...given,
        'model.safetensors': given['model.safetensors']?.subarray(0, 5000) ?? Buffer.alloc(0),
      }),
      /model\.safetensors/,
    ],
    [
      'an architecture that is not there',
      (given: Files) => ({
        ...given,
        'config.json': Buffer.from('{"model_type":"resnet","architectures":["ResNet"]}'),
      }),
      /resnet/i,
    ],
    ['nothing was in the folder', () => ({}), /there is nothing of a model/],
  ])('%s', async (_, spoil, cause) => {
    await give(spoil(stories()));
    await open.page.waitForFunction(
      (wanted) => {
        const textOf = (node: Node): string => {
          const root = node instanceof Element && node.shadowRoot ? node.shadowRoot : node;
          return node instanceof Text ? node.data : [...root.childNodes].map(textOf).join('');
        };
        return new RegExp(wanted.source, wanted.flags).test(textOf(document.querySelector('figure-own') as Node));
      },
      { source: cause.source, flags: cause.flags },
    );
    expect(await open.page.getByRole('button', { name: /^Load in/ }).count()).toBe(0);
  });
});
