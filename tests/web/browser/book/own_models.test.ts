// Chapters with models of the reader's own that differ from the book's: fewer blocks and heads, another kind of block, an
// induction head; and what is left of such a model after a reload or Back.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site, settled } from '../site.js';
import { drawnText, numbersOf, shownText } from './reader.js';

let site: Site;
let open: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({}, 'own');
});
afterAll(() => site.stop());

/** A tokenizer of whole words, the first of them those of the sentence. */
function tokenizerOf(count: number): string {
  const known = ['<s>', 'Lily', 'went', 'to', 'the', 'park', '.'];
  const words = Array.from({ length: count }, (_, id) => known[id] ?? `x${id}`);
  return JSON.stringify({
    version: '1.0',
    added_tokens: [],
    pre_tokenizer: { type: 'Whitespace' },
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '<s>' },
  });
}

/** Loads the folder in chapter 14, with these settings. */
async function begin(folder: string, settings = {}): Promise<string> {
  const read = (name: string): Buffer => readFileSync(`./tests/fixtures/${folder}/${name}`);
  return give(read('config.json'), read('model.safetensors'), settings);
}

async function give(config: Buffer, weights: Buffer, settings = {}): Promise<string> {
  const { page } = open;
  await site.go(page, 'own');
  const files = {
    'config.json': config,
    'model.safetensors': weights,
    'tokenizer.json': Buffer.from(tokenizerOf(JSON.parse(config.toString()).vocab_size)),
    'tokenizer_config.json': Buffer.from('{"tokenizer_class": "PreTrainedTokenizerFast"}'),
    'generation_config.json': Buffer.from(JSON.stringify(settings)),
  };
  const list = Object.entries(files).map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer }));
  await page.setInputFiles('figure-own file-pick #files', list);
  await page.getByRole('button', { name: /^Load in fp32/ }).click();
  return JSON.parse(config.toString()).model_type;
}

/** Loads the folder until it is shown; returns the chapters that are offered for it. */
async function load(folder: string, settings = {}): Promise<string[]> {
  const { page } = open;
  const model_type = await begin(folder, settings);
  await expect.poll(() => page.evaluate(ownType), { timeout: 10_000 }).toBe(model_type);
  return page.locator('figure-own a.chip').allInnerTexts();
}

/** The type of the reader's own model; undefined until it is loaded and shown. Serialised for the browser. */
async function ownType(): Promise<string | undefined> {
  interface App extends Element {
    book: { shelf: { model(name: 'own'): Promise<{ model: { cfg: { model_type: string } } }> } };
  }
  const { shelf } = (document.querySelector('book-app') as App).book;
  const own = await shelf.model('own').catch(() => undefined);
  return document.querySelector('figure-own')?.shadowRoot?.querySelector('a.chip')
    ? own?.model.cfg.model_type
    : undefined;
}

/** The keys of the second block and their bias, from the reader's own model. Serialised for the browser. */
async function keysOf(): Promise<[number[], number[]]> {
  interface Numbers {
    data: Float32Array;
  }
  interface Model {
    parameter(name: string): Promise<Numbers>;
    run_with_cache(inputs: object, options: object): Promise<[unknown, Record<string, Numbers>]>;
  }
  interface Book {
    sentence(name: 'own'): Promise<{ inputs: { inputs: object } }>;
    shelf: { model(name: 'own'): Promise<{ model: Model }> };
  }
  const { book } = document.querySelector('book-app') as Element & { book: Book };
  const { model } = await book.shelf.model('own');
  const { inputs } = (await book.sentence('own')).inputs;
  const [, cache] = await model.run_with_cache(inputs, { names_filter: ['blocks.1.attn.hook_k'] });
  const bias = await model.parameter('blocks.1.attn.b_K');
  return [Array.from(cache['blocks.1.attn.hook_k']?.data ?? []), Array.from(bias.data)];
}

const step = (page: OpenPage['page']): Promise<string> => page.locator('.step.on').innerText();
const alerts = (page: OpenPage['page']): Promise<string[]> => page.getByRole('alert').allTextContents();

describe.each(['models/gptj/even', 'models/olmo2/even'])('%s', (folder) => {
  it('is not offered the chapter whose diagram is not that of its blocks, and is refused there in words', async () => {
    const chapters = await load(folder);
    expect(chapters).toContain('Many heads');
    expect(chapters).not.toContain('A block');
    const { page } = open;
    await site.go(page, 'block?m=own');
    expect(await page.getByRole('alert').innerText()).toMatch(
      /diagram is of blocks in which attention adds[\s\S]*unsupported/,
    );
    const language = (): Promise<string | null> => page.locator('book-sentence button').first().getAttribute('lang');
    await expect.poll(language).toBe(''); // unknown
    await page.getByRole('link', { name: 'Go on with the book’s own model' }).click();
    await settled(page);
    await expect.poll(language).toBe('en');
    expect(page.url()).not.toContain('m=own');
    expect(await alerts(page)).toEqual([]);
    await site.go(page, 'own?m=own');
  });
});

it('a model that replaces the reader’s own reaches the figure that is open then', async () => {
  interface Held {
    adopt(shelved: object): void;
    release?: () => void;
  }
  interface App extends Element {
    book: { shelf: Held };
  }
  await load('models/gptj/even');
  const { page } = open;
  await page.evaluate(() => {
    const { shelf } = (document.querySelector('book-app') as App).book;
    const adopt = shelf.adopt.bind(shelf);
    shelf.adopt = (shelved) => {
      shelf.release = () => adopt(shelved);
    };
  });
  await begin('induction/model');
  await page.waitForFunction(() => (document.querySelector('book-app') as App).book.shelf.release);
  await site.go(page, 'next?m=own');
  const before = await drawnText(page);
  await page.evaluate(() => {
    const { shelf } = (document.querySelector('book-app') as App).book;
    shelf.release?.();
    Reflect.deleteProperty(shelf, 'adopt');
  });
  await settled(page);
  const after = await drawnText(page);
  expect(after).not.toBe(before);
  await site.go(page, 'own?m=own');
  await site.go(page, 'next?m=own');
  expect(await drawnText(page)).toBe(after);
  expect(await alerts(page)).toEqual([]);
  await site.go(page, 'own?m=own');
});

describe('a model with an induction head, of fewer blocks and heads than the book’s', () => {
  it('runs in every chapter that is offered', async () => {
    const chapters = await load('induction/model');
    expect(chapters).toContain('A block');
    const { page } = open;
    for (const address of [
      'head?step=0',
      'head?step=9',
      'masks?step=0',
      'heads?step=1',
      'heads?step=3',
      'heads?step=4',
      'block?step=7',
      'saying?step=0',
    ]) {
      await site.go(page, `${address}&m=own`);
      expect(await alerts(page), address).toEqual([]);
    }
    expect(open.complaints).toEqual([]);
  });

  it('is said to have one, and by its own name', async () => {
    const { page } = open;
    await site.go(page, 'heads?step=5&m=own');
    expect(await step(page)).toMatch(/Block 2, head \d scores 0\.9\d for induction: it is such a head\./);
    expect(await step(page)).not.toContain('has learned no such head');
    await page.getByRole('button', { name: 'your model', pressed: true }).waitFor();
    await site.go(page, 'heads?step=5&m=stories260K');
    expect(await step(page)).toContain('it has learned no such head.');
  });

  it('is not said to have a gate, a turn, shared keys or tied vectors, which it has not', async () => {
    const { page } = open;
    await site.go(page, 'block?step=4&m=own');
    expect(await step(page)).not.toContain('second number of its own');
    expect(await step(page)).toContain('Here are the model’s neurons on the curve of ReLU.');
    await site.go(page, 'head?step=0&m=own');
    expect(await step(page)).not.toContain('the turn');
    await site.go(page, 'head?step=9&m=own');
    expect(await step(page)).not.toContain('share');
    await site.go(page, 'saying?step=0&m=own');
    expect(await step(page)).not.toContain('own vectors');
    await site.go(page, 'block?step=7&m=own');
    expect(await step(page)).toContain('the attention adds nothing in block 2;');
  });

  it('can be opened again after a reload, or left behind', async () => {
    const { page } = await site.open({}, 'head?m=own');
    expect(await shownText(page)).toContain('no model of your own has been opened yet');
    expect(await page.locator('.mark').getAttribute('href')).not.toContain('m=own');
    expect(await page.getByRole('link', { name: 'Open your model again' }).getAttribute('href')).toMatch(/^#\/own/);
    await page.getByRole('link', { name: 'Go on with the book’s own model' }).click();
    await settled(page);
    expect(await alerts(page)).toEqual([]);
  });
});

it('counts the weights of a large block without a picture of them', async () => {
  const [width, hidden, vocab_size] = [384, 128, 8];
  const sizes = {
    hidden_size: width,
    intermediate_size: hidden,
    num_attention_heads: 8,
    num_hidden_layers: 1,
    vocab_size,
  };
  const config = { model_type: 'llama', architectures: ['LlamaForCausalLM'], tie_word_embeddings: true, ...sizes };
  const block = 'model.layers.0.';
  const matrices = ['q', 'k', 'v', 'o'].map(
    (name) => [`${block}self_attn.${name}_proj.weight`, [width, width]] as const,
  );
  const shapes: Readonly<Record<string, readonly number[]>> = {
    'model.embed_tokens.weight': [vocab_size, width],
    ...Object.fromEntries(matrices),
    [`${block}mlp.gate_proj.weight`]: [hidden, width],
    [`${block}mlp.up_proj.weight`]: [hidden, width],
    [`${block}mlp.down_proj.weight`]: [width, hidden],
    [`${block}input_layernorm.weight`]: [width],
    [`${block}post_attention_layernorm.weight`]: [width],
    'model.norm.weight': [width],
  };
  await give(Buffer.from(JSON.stringify(config)), zeros(shapes));
  const { page } = open;
  await expect.poll(() => page.evaluate(ownType), { timeout: 10_000 }).toBe('llama');
  await site.go(page, 'block?view=weights&m=own');
  const { data } = await numbersOf(page, 'sums of the sizes of named_parameters()');
  expect(data).toEqual([vocab_size * width, 4 * width * width, 3 * width * hidden, 3 * width]);
  expect(await page.locator('.frame').count()).toBe(9);
  expect(await page.locator('pixel-matrix').count()).toBe(0);
});

/** A safetensors file of zeros. */
function zeros(shapes: Readonly<Record<string, readonly number[]>>): Buffer {
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const start = end;
    end += 2 * shape.reduce((product, dim) => product * dim, 1);
    return [name, { dtype: 'F16', shape, data_offsets: [start, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(end)]);
}

it.each([
  ['falcon', /: rounding\)/],
  ['gpt2', /what the model writes into its stream \(difference .*: rounding\)/],
  ['gemma2', /first brings their sum to another size/],
])('multiplies with the weights of %s, head by head', async (name, says) => {
  await load(`models/${name}/odd`);
  const { page, complaints } = open;
  complaints.length = 0;
  await site.go(page, 'heads?step=1&m=own&l=1&w=k');
  expect(await alerts(page)).toEqual([]);
  expect(await step(page)).toContain('the largest difference is 0');
  const { data } = await numbersOf(page, 'matmul(x, blocks.1.attn.W_K)');
  const [keys, bias] = await page.evaluate(keysOf);
  expect(data).toHaveLength(keys.length);
  data.forEach((product, i) => {
    expect(product + (bias[i % bias.length] ?? 0)).toBeCloseTo(keys[i] ?? Number.NaN, 4);
  });
  await site.go(page, 'heads?step=3&m=own&l=1');
  expect(await alerts(page)).toEqual([]);
  expect(await step(page)).toMatch(says);
  expect(complaints).toEqual([]);
});

it.each([
  ['gpt_neo', 'This model does not divide, '],
  ['gemma2', 'This model divides by 2.6 instead of √10'],
  ['mistral', 'Dividing by √10 brings the scores back to one size'],
])('says how %s comes from products to scores', async (name, says) => {
  await load(`models/${name}/odd`);
  await site.go(open.page, 'head?step=2&m=own');
  expect(await step(open.page)).toContain(says);
  const equation = await open.page.evaluate(
    () => document.querySelector('figure-head')?.shadowRoot?.querySelector('head-canvas')?.shadowRoot?.textContent,
  );
  expect(/÷ √10 =/.test(equation ?? '')).toBe(name === 'mistral');
});

it.each([
  ['mistral', 'your model', 'as in the book'],
  ['qwen3', 'stories260K', 'of normed queries and keys'],
  ['phi', 'stories260K', 'in part'],
  ['gptj', 'stories260K', 'in pairs of neighbours'],
  ['gemma3_text', 'stories260K', 'by several rules'],
  ['smollm3', 'stories260K', 'not in this block'],
])('shows a rotation of %s or of the story model: %s, %s', async (name, whose) => {
  await load(`models/${name}/even`);
  await site.go(open.page, 'where?step=8&m=own&l=1&h=1');
  expect(await alerts(open.page)).toEqual([]);
  const said = /the model’s own: difference (.{6})\. Dashed: before turning\. Model: (.*?)\./.exec(
    await shownText(open.page),
  );
  expect(said?.slice(1)).toEqual(['0.0000', whose]);
});

it('shows what a bias of positions adds to the scores', async () => {
  await load('models/bloom/even');
  await site.go(open.page, 'head?step=4&m=own&q=5&at=S2');
  expect(await shownText(open.page)).toMatch(/sum\s*-?−?[\d.]+\s*÷ √\d+ =\s*−?[\d.]+\s*→\s*−?[\d.]+/);
});

it('says that queries were normed before they were turned', async () => {
  await load('models/qwen3/even');
  await site.go(open.page, 'head?step=0&m=own&q=5&at=Q3');
  expect(await shownText(open.page)).toContain('normed and turned for place 5 =');
});

it('explains temperature and beams without what generation_config.json sets besides', async () => {
  const settings = { num_beams: 4, repetition_penalty: 1.5, suppress_tokens: [3], min_p: 0.2, min_new_tokens: 2 };
  await load('induction/model', settings);
  const { page } = open;
  await site.go(page, 'saying?step=1&m=own');
  const { data, dims } = await numbersOf(page, 'softmax(generate({ output_scores }).scores[0])');
  const words = dims[1] ?? 0;
  data.forEach((share, i) => {
    expect(share).toBeCloseTo(data[i % words] ?? Number.NaN, 6);
  });
  for (const address of ['saying?step=4', 'saying?step=5', 'laboratory?step=1']) {
    await site.go(page, `${address}&m=own`);
    expect(await alerts(page), address).toEqual([]);
  }
});

it('shows the model of the address after Back in chapter 14', async () => {
  const { page } = await site.open({}, 'own');
  const look = async (id: string, architecture: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'owner/name on the Hub' }).fill(id);
    await page.getByRole('button', { name: 'Look', exact: true }).click();
    await page.getByText(architecture).waitFor();
  };
  await look('./models/stories260K', 'LlamaForCausalLM');
  await look('./models/vit-mnist', 'ViTForImageClassification');
  await page.goBack();
  await page.getByText('LlamaForCausalLM').waitFor();
  expect(await page.getByText('ViTForImageClassification').count()).toBe(0);
  await page.goBack();
  await page.getByText('LlamaForCausalLM').waitFor({ state: 'detached' });
});
