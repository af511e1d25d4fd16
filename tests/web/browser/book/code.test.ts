// The code of the Figure menu, of every step and of addresses with a reader's choices, as it is printed: JavaScript is
// run, throws nothing, and its last value is a number that the figure shows; C++ compiles.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as clearformer from 'clearformer';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCppCompiler } from '../../../../scripts/toolchain/programs.js';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { Site } from '../site.js';
import { drawn } from './reader.js';

type Values = Record<string, unknown>;
type Code = Partial<Record<'js' | 'cpp' | 'tl', string>> & { js: string };
type FigureElement = HTMLElement & { code(): Code };

const {
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoTokenizer,
  Tensor,
} = clearformer;
const folder = (name: string): string =>
  fileURLToPath(new URL(`../../../../build/page/models/${name}`, import.meta.url));
const bundled = ['stories260K', 'gpt-nano-sort', 'marian-tiny-en-fr', 'bert-tiny-fill', 'vit-mnist'];

const placed = (name: string): string =>
  name === 'folder' ? folder('stories260K') : bundled.includes(name) ? folder(name) : name;

/** A class of the package that takes the names of the page's models; old engines need `deterministic` for q8. */
const named = (auto: { from_pretrained(source: string, options?: object): unknown }): object => ({
  from_pretrained: (source: string, options?: object) =>
    auto.from_pretrained(placed(source), options && { deterministic: true, ...options }),
});

const random = (...dims: number[]): InstanceType<typeof Tensor> =>
  new Tensor(
    'float32',
    Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => Math.sin(i * 1.7)),
    dims,
  );

let site: Site;
let page: Page;
let models: Record<string, { model: Values; tokenizer?: unknown }>;
let bound: Values;
beforeAll(async () => {
  site = await Site.start();
  ({ page } = await site.open());
  const text = async (name: string, kind: { from_pretrained(source: string): Promise<unknown> }) => ({
    model: (await kind.from_pretrained(folder(name))) as Values,
    tokenizer: await AutoTokenizer.from_pretrained(folder(name)),
  });
  const stories = await text('stories260K', AutoModelForCausalLM);
  const translator = await text('marian-tiny-en-fr', AutoModelForSeq2SeqLM);
  const filler = await text('bert-tiny-fill', AutoModelForMaskedLM);
  models = { stories, translator, filler, sorter: await text('gpt-nano-sort', AutoModelForCausalLM) };
  const seeing = (await AutoModelForImageClassification.from_pretrained(folder('vit-mnist'))) as unknown as Values;
  models.seeing = { model: seeing };
  const autos = Object.entries(clearformer).flatMap(([name, each]) =>
    name.startsWith('Auto') ? [[name, named(each as never)] as const] : [],
  );
  bound = {
    ...clearformer,
    ...Object.fromEntries(autos),
    pipeline: (task: never, source: string, options?: object) => clearformer.pipeline(task, placed(source), options),
    inspect: () => clearformer.inspect(folder('stories260K')),
    folder: 'folder',
    ...{ decoder: stories.model, decoderTokenizer: stories.tokenizer },
    ...{ encoder: filler.model, encoderTokenizer: filler.tokenizer },
    ...{ translator: translator.model, translatorTokenizer: translator.tokenizer },
    ...{ q: random(8, 8), k: random(8, 8), v: random(8, 8), x: random(6, 48) },
    ...{ M: random(8, 8), W_q: random(8, 8), W_k: random(8, 8), w_v: random(1, 8) },
    ...{ Q: random(8, 6, 8), K_T: random(8, 8, 6), table: random(512, 64) },
    ...{ ids: Array.from({ length: 20 }, (_, i) => i + 1), greys: new Uint8Array(784), masked: 0 },
    order: Array.from({ length: 49 }, (_, i) => 48 - i),
    transposed: ({ dims: [n = 0, d = 0] }: { dims: readonly number[] }) => random(d, n),
    rows: Array.from({ length: 8 }, () => Array(8).fill(true)),
    weights: {
      ...{ in_proj_weight: random(144, 48), in_proj_bias: random(144) },
      ...{ 'out_proj.weight': random(48, 48), 'out_proj.bias': random(48) },
    },
    console: { log: () => undefined },
  };
});
afterAll(() => site.stop());

/** Names that the code declares, in braces, brackets, or alone. */
const declared = (js: string): string[] =>
  [...js.matchAll(/^(?:const|let) (?:\{([^}]*)\}|\[([^\]]*)\]|(\w+)) =/gm)].flatMap((found) =>
    (found[1] ?? found[2] ?? found[3] ?? '').split(',').flatMap((name) => name.split(':').at(-1)?.trim() || []),
  );

/** Runs the code and returns what it declares. */
async function run(js: string, chapter: string): Promise<Values> {
  if (js.includes('training.md')) return {}; // trains a model for minutes
  const who = /"[ABC]{2,}"/.test(js)
    ? 'sorter'
    : chapter === 'seeing'
      ? 'seeing'
      : /'(en|de)coder\.|decoder_input_ids/.test(js)
        ? 'translator'
        : js.includes("'hook_pos_embed'")
          ? 'filler'
          : 'stories';
  const { model, tokenizer } = models[who] ?? {};
  const given: Values = { ...bound, model, tokenizer };
  if (js.includes('alibi_bias')) for (const name of ['q', 'k', 'v']) given[name] = random(1, 8, 10, 8);
  if (js.startsWith('const Q =')) Object.assign(given, { W_q: random(8, 2), W_k: random(8, 2) });
  const names = declared(js);
  if (!names.includes('inputs') && typeof tokenizer === 'function') given.inputs = tokenizer('Lily went to the park.');
  const free = Object.keys(given).filter((name) => !names.includes(name));
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const work = new AsyncFunction(...free, `${js}\nreturn { ${names.join(', ')} };`);
  return work(...free.map((name) => given[name]));
}

/** The address of each text in C++. */
const programs = new Map<string, string>();

async function codeAt(address: string): Promise<Code> {
  await site.go(page, address);
  const code = await page.locator('main .figure > *').evaluate((figure) => (figure as FigureElement).code());
  if (code.cpp !== undefined && !programs.has(code.cpp)) programs.set(code.cpp, address);
  return code;
}

/** What the texts in C++ are given. */
const givenInCpp = `#include <clearformer/clearformer.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>
using namespace clearformer;
extern const std::unique_ptr<Model> model;
extern ModelInputs inputs, corrupted;
extern Weights weights;
extern Tensor q, k, v, x, Q, K, V, K_T, M, W_q, W_k, w_v, rows, lengths, table;
extern const float* pixels;
Tensor batch();
`;

/** What the compiler says of all programs so far, each a function; its lines are told as the address's. */
function compilerErrors(): string {
  const functions = [...programs].map(
    ([cpp, address], i) => `#line 1 ${JSON.stringify(address)}\nvoid program_${i}() {\n${cpp}\n}\n`,
  );
  const headers = fileURLToPath(new URL('../../../../cpp', import.meta.url));
  const args = ['-std=c++20', '-fsyntax-only', `-I${headers}`, '-x', 'c++', '-'];
  const { stderr, error } = spawnSync(findCppCompiler(), args, {
    input: givenInCpp + functions.join(''),
    encoding: 'utf8',
  });
  return error ? String(error) : stderr;
}

const done = new Set<string>();
/** What fails in the code of these addresses. */
async function faultsOf(addresses: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const address of addresses) {
    const { js } = await codeAt(address);
    if (done.has(js)) continue;
    await run(js, address.split('?')[0] ?? '').then(
      () => done.add(js),
      (error) => faults.push(`${address}: ${error}\n${js}`),
    );
  }
  return faults;
}

describe('the code of a figure', () => {
  it.each(chapters.map(({ id }) => id).filter((id) => id !== 'own'))('runs at every step of %s', async (chapter) => {
    await site.go(page, chapter);
    const steps = Math.max(1, await page.locator('.step').count());
    expect(await faultsOf(Array.from({ length: steps }, (_, step) => `${chapter}?step=${step}`))).toEqual([]);
  });

  it('runs with choices of a reader', async () => {
    const faults = await faultsOf([
      'head?edit=blocks.1.hook_mlp_out:zero',
      'head?edit=blocks.2.attn.hook_rot_q@h4@p5@i3:set=1.5,blocks.1.hook_mlp_out:scale=0.5',
      'head?view=scores&norm=1&gen=identity',
      'head?view=scores&qkv=1 2;3 4|1 0;0 1|2 1;1 2',
      'translate?step=2&s=3&f=427.1877.119.156',
      'translate?step=2&b=4',
      'laboratory?view=hook&edit=blocks.2.hook_mlp_out:zero',
      'saying?view=odds&w=300',
      'saying?view=who&w=300',
      'heads?l=2&edit=blocks.1.attn.hook_z@h1:zero,blocks.1.hook_mlp_out:mean',
      'heads?who=marian-tiny-en-fr&edit=encoder.0.attn.hook_z@h1:zero',
      'heads?who=marian-tiny-en-fr&view=find',
      'heads?who=marian-tiny-en-fr&view=need',
      'block?edit=blocks.1.hook_mlp_out@p2:add=1e-3,blocks.*.attn.hook_z@p1:mean=2',
      'laboratory?view=hook&edit=blocks.2.attn.hook_attn_scores@h1@p3@i2:set=-1',
      'laboratory?view=export&edit=blocks.2.hook_mlp_out:zero',
      'laboratory?view=patching&by=head',
      'laboratory?view=patching&by=layer',
      ...['lens', 'attribution', 'ablation', 'edit'].map((view) => `laboratory?m=marian-tiny-en-fr&view=${view}`),
      'seeing?step=5&edit=blocks.1.attn.hook_z@h1:zero,hook_full_embed@p3@i5:set=0.5',
      'seeing?step=8&pos=along&order=mixed&edit=blocks.1.attn.hook_z@h1:zero',
      'seeing?step=8&pos=none&order=mixed',
      'translate?step=2&edit=decoder.1.hook_mlp_out@p3:zero',
      'translate?t=%20',
      'head?view=batch&edit=blocks.1.attn.hook_z@h1:zero',
      'masks?mask=painted',
      'kinds?l=9&h=9',
      'seeing?step=2&k=1e9',
    ]);
    expect(faults).toEqual([]);
  });

  it.each([
    ['head?qkv=1 2;3 4|1 0;0 1|2 1;1 2', 'A'],
    ['next?w=372', 'odds'],
    ['heads?l=2&edit=blocks.1.attn.hook_z@h1:zero', 'odds'],
    ['heads?edit=blocks.1.hook_mlp_out:zero', 'odds'],
    ['laboratory?view=edit&edit=blocks.2.attn.hook_rot_q@h4@p5@i3:set=9', 'odds'],
    ['laboratory?view=edit&edit=blocks.4.attn.hook_attn_scores@h1@p5@i2:set=20', 'odds'],
    ['block?step=5', 'odds'],
    ['block?step=6', 'odds'],
    ['laboratory?view=edit&edit=blocks.2.hook_mlp_out:zero', 'odds'],
    [`laboratory?view=edit&edit=blocks.2.hook_mlp_out:zero&t=${'Lily went to the park. '.repeat(12)}`, 'odds'],
    ['translate?step=2&s=3&f=427.1877.119.156', 'odds'],
  ])('computes what is shown at %s', async (address, name) => {
    const { js } = await codeAt(address);
    const { [name]: tensor } = await run(js, address.split('?')[0] ?? '');
    const most = Math.max(...(tensor as { data: Float32Array }).data);
    const shown = (await drawn(page)).flatMap(({ data }) => data);
    expect(Math.min(...shown.map((value) => Math.abs(value - most)))).toBeLessThan(1e-5);
  });

  it('captures the row of a token that is none of the text', async () => {
    const { js, tl } = await codeAt('vectors?step=3&id=280&t=Once+upon+a+time');
    const { cache } = await run(js, 'vectors');
    const shown = (await drawn(page)).find(({ source }) => source === 'hook_embed[0, 0], input_ids [[280]]');
    const { hook_embed } = cache as Record<string, InstanceType<typeof Tensor>>;
    expect(Array.from(hook_embed?.slice(0, 0).data ?? [], Number)).toEqual(shown?.data);
    expect(tl).toContain('model.run_with_cache(torch.tensor([[280]])');
  });

  it.each(['next', 'saying'])('reads what was written in %s, in every language', async (chapter) => {
    const { js, cpp, tl } = await codeAt(`${chapter}?w=372`);
    expect(js).toMatch(/input_ids: \[\[1, .*, 372\]\]/);
    expect(cpp).toMatch(/input_ids\{1, .*, 372\};\ninputs.input_ids = TensorView\(/);
    expect(tl).toMatch(/torch\.tensor\(\[\[1, .*, 372\]\]\)/);
  });

  it.each([
    'head?l=2',
    'head?l=2&view=batch',
    'heads?l=2',
    'block?l=2',
    'laboratory?view=hook',
    'laboratory?view=export',
    ...[0, 5, 6, 7].map((step) => `seeing?step=${step}`),
  ])('has the edits that are in force at %s in every language', async (address) => {
    const { js, cpp, tl } = await codeAt(`${address}&edit=blocks.1.attn.hook_z@h1:zero`);
    expect(js).toContain("{ hook: 'blocks.1.attn.hook_z', head: 1, op: 'zero' }");
    expect(js.match(/op: 'zero'/g)).toHaveLength(1);
    expect(cpp).toContain('trace.edit(Edit{.hook = "blocks.1.attn.hook_z", .op = Edit::Op::zero, .heads = {1}});');
    expect(tl).toContain('x[:, :, 1] = 0');
    expect(tl).toContain('with model.hooks(fwd_hooks=[("blocks.1.attn.hook_z", edit_0)])');
  });

  it('moves the position embeddings as the figure does, in every language', async () => {
    const at = (mode: string): Promise<Code> => codeAt(`seeing?step=8&order=mixed&pos=${mode}`);
    const codes = [await at('stay'), await at('along'), await at('none')];
    expect(codes.map((code) => Object.values(code).map((text) => text.includes('hook_pos_embed')))).toEqual([
      [false, false, false],
      [true, true, true],
      [true, true, true],
    ]);
    const rows = /p\[:, \[([\d, ]+)\]\]/.exec(codes[1]?.tl ?? '')?.[1]?.split(', ');
    expect(rows).toHaveLength(50);
    expect(new Set(rows).size).toBe(50);
  });

  it('writes to the end of the sentence and reads that', async () => {
    const { cpp } = await codeAt('translate?step=2&edit=decoder.1.hook_mlp_out@p3:zero');
    expect(cpp).toContain('generation_config_of(model->config())');
    expect(cpp).toContain('translation.next(&trace)');
    expect(cpp).toContain('written.dim(1) - 1');
    expect((await codeAt('saying?view=beams')).cpp).toContain(
      'generation_config_of(model->config());\nconfig.num_beams',
    );
  });

  it('generates nothing without a sentence', async () => {
    const { js, ...others } = await codeAt('translate?t=%20');
    expect(js).not.toContain('generate');
    expect(others).toEqual({});
  });

  it('compiles in C++', () => {
    expect(programs.size).toBeGreaterThan(80);
    expect(compilerErrors()).toBe('');
  });
});
