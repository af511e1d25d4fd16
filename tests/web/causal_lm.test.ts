// Forward passes of real checkpoints against transformers: logits, hidden states, attention maps and every hook point.

import { AutoModelForCausalLM, type GenerativeModel, type HookName, Tensor } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Case, casesOf, expectClose, fixturePath, idRows, storiesPath, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const folders = ['stories260K', 'llama_tiny'];
const forward = folders.flatMap((folder) =>
  casesOf(folder).map((one) => ({ folder, one, name: `${folder}/${one.name}` })),
);
const of = (op: string) => forward.filter(({ one }) => one.op === op);
const pathOf = (folder: string, one: Case) =>
  folder === 'stories260K' ? storiesPath : fixturePath(`${folder}/${one.options.checkpoint}`);

async function withModel(
  path: string,
  variant: 'simd128' | 'relaxed',
  use: (model: GenerativeModel) => Promise<void>,
): Promise<void> {
  const model = await AutoModelForCausalLM.from_pretrained(path, optionsFor(variant));
  try {
    expect(model.info().simd).toBe(variant);
    await use(model);
  } finally {
    await model.dispose();
  }
}

describe.each(variants)('%s equals transformers', (variant) => {
  it.each(of('causal_lm_forward'))('$name', ({ folder, one }) =>
    withModel(pathOf(folder, one), variant, async (model) => {
      const reference = tensorsOf(folder, one);
      const inputs = { input_ids: reference('input_ids') as { data: BigInt64Array; dims: number[] } };
      const out = await model(inputs, { output_attentions: true, output_hidden_states: true });
      expectClose('logits', out.logits, reference('logits'));
      const { attentions = [], hidden_states = [] } = out;
      expect(attentions).toHaveLength(model.cfg.n_layers);
      expect(hidden_states).toHaveLength(model.cfg.n_layers + 1);
      attentions.forEach((map, i) => {
        expectClose(`attentions.${i}`, map, reference(`attentions.${i}`));
      });
      hidden_states.forEach((state, i) => {
        expectClose(`hidden_states.${i}`, state, reference(`hidden_states.${i}`));
      });
      const bare = await model(inputs);
      expect(bare.logits.data).toEqual(out.logits.data); // bit for bit: capturing changes nothing
      expect(Object.keys(bare)).toEqual(['logits']);
    }),
  );

  it.each(of('causal_lm_run_with_cache'))('$name', ({ folder, one }) =>
    withModel(pathOf(folder, one), variant, async (model) => {
      const reference = tensorsOf(folder, one);
      const input_ids = idRows(reference('input_ids'));
      const [logits, cache] = await model.run_with_cache({ input_ids });
      expect(logits.data).toEqual((await model({ input_ids })).logits.data);
      expect(Object.keys(cache)).toEqual(model.hooks().map((hook) => hook.name));
      for (const name of Object.keys(one.outputs))
        expectClose(name, cache[name as HookName] as Tensor, reference(name));
    }),
  );

  it.each(of('causal_lm_batch'))('$name', ({ folder, one }) =>
    withModel(pathOf(folder, one), variant, async (model) => {
      const reference = tensorsOf(folder, one);
      const mask = idRows(reference('attention_mask'));
      const inputs = {
        input_ids: idRows(reference('input_ids')),
        attention_mask: mask,
        position_ids: idRows(reference('position_ids')),
      };
      const { logits } = await model(inputs);
      const flat = mask.flat();
      expectClose('logits', logits, reference('logits'), (i) => flat[Math.floor(i / model.cfg.d_vocab)] === 1);
    }),
  );
});

describe('a forward pass', () => {
  let model: GenerativeModel;
  const input_ids = [[1, 403, 407, 261, 378]];
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
  });
  afterAll(() => model.dispose());

  it('takes ids in every form there is', async () => {
    const flat = input_ids[0] as number[];
    const { logits } = await model({ input_ids });
    const forms = [
      flat,
      flat.map(BigInt),
      [flat.map(BigInt)],
      Int32Array.from(flat),
      BigInt64Array.from(flat, BigInt),
      { data: Int32Array.from(flat), dims: [1, 5] },
      new Tensor('int64', BigInt64Array.from(flat, BigInt), [1, 5]),
      new Tensor('int32', Int32Array.from(flat), [5]),
    ];
    for (const form of forms) expect((await model({ input_ids: form })).logits.data).toEqual(logits.data);
  });

  it('takes no options among its inputs', async () => {
    const message = expect.stringMatching(/^model: unknown input 'output_attentions' \(known: input_ids, /);
    const among = { input_ids, output_attentions: true };
    await expect(model(among)).rejects.toMatchObject({ code: 'unsupported', message });
  });

  it('has rows of attention that sum to 1 and never look ahead', async () => {
    const { attentions = [] } = await model({ input_ids }, { output_attentions: true });
    for (const map of attentions) {
      expect(map.dims).toEqual([1, 8, 5, 5]);
      for (let row = 0; row < 40; row++) {
        const weights = Array.from(map.data.slice(5 * row, 5 * row + 5));
        expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 6);
        expect(weights.slice((row % 5) + 1).every((weight) => weight === 0)).toBe(true);
      }
    }
  });

  it('goes on from past_key_values as if all had been read at once', async () => {
    const whole = (await model({ input_ids })).logits;
    const first = await model({ input_ids: [[1, 403, 407]] }, { use_cache: true });
    const past = first.past_key_values;
    if (past === undefined) throw new Error('no past_key_values');
    expect(await past.info()).toMatchObject({ batch: 1, length: 3 });
    const second = await model({ input_ids: [[261, 378]], past_key_values: past });
    expect(second.past_key_values).toBe(past);
    expect((await past.info()).length).toBe(5);
    expectClose('logits', second.logits, { dims: [1, 2, 512], data: whole.data.slice(3 * 512) });
    await past.crop(3);
    const again = await model({ input_ids: [[261, 378]], past_key_values: past });
    expect(again.logits.data).toEqual(second.logits.data);
    await past.dispose();
    expect((await failureOf(() => past.info())).code).toBe('disposed');
    expect((await failureOf(() => model({ input_ids: [[1]], past_key_values: past }))).code).toBe('disposed');
  });

  it('captures only what the filter means', async () => {
    const names = async (names_filter: Parameters<GenerativeModel['run_with_cache']>[1]) =>
      Object.keys((await model.run_with_cache({ input_ids }, names_filter))[1]);
    expect(await names({ names_filter: 'hook_embed' })).toEqual(['hook_embed']);
    expect(await names({ names_filter: 'blocks.*.attn.hook_pattern' })).toHaveLength(5);
    expect(await names({ names_filter: /^blocks\.[01]\.hook_resid_post$/g })).toHaveLength(2);
    expect(await names({ names_filter: (name) => name.endsWith('hook_z') })).toHaveLength(5);
    expect(await names({ names_filter: ['hook_embed', /hook_q$/] })).toHaveLength(6);
    expect(await names({ names_filter: () => false })).toEqual([]);
    expect(await names({ names_filter: undefined })).toEqual(await names({}));
    // @ts-expect-error: no hook has this name
    expect((await failureOf(() => names({ names_filter: 'blocks.0.attn.hook_rot' }))).code).toBe('invalid_argument');
    const failure = await failureOf(() =>
      // @ts-expect-error: misspelt
      model.run_with_cache({ input_ids }, { names_filter: 'blocks.0.attn.hook_patern' }),
    );
    expect(failure.code).toBe('invalid_argument');
    expect(failure.message).toContain("'blocks.0.attn.hook_patern'");
  });

  it('gives hook points with dims that the captured tensors have', async () => {
    const [, cache] = await model.run_with_cache({ input_ids });
    const sizes: Record<string, number> = { batch: 1, pos: 5, query_pos: 5, key_pos: 5 };
    for (const { name, dims, dtype } of model.hooks()) {
      expect([name, ...dims.map((dim) => (typeof dim === 'number' ? dim : sizes[dim]))]).toEqual([
        name,
        ...(cache[name]?.dims ?? []),
      ]);
      expect(cache[name]?.type).toBe(dtype);
    }
  });

  it.each([
    [{ input_ids: [[1, 2], [3]] }, {}, 'shape_mismatch', 'row 1'],
    [{ input_ids: [[1.5]] }, {}, 'dtype_mismatch', '1.5'],
    [{ input_ids: [[512]] }, {}, 'invalid_argument', '512'],
    [{ input_ids: [[-1]] }, {}, 'invalid_argument', '-1'],
    [{ input_ids: [] }, {}, 'shape_mismatch', 'input_ids'],
    [{ input_ids: [[1, 2]], attention_mask: [[1]] }, {}, 'shape_mismatch', 'attention_mask'],
    [{ input_ids: 'Once' }, {}, 'invalid_argument', 'input_ids'],
    [{}, {}, 'invalid_argument', 'input_ids'],
    [{ input_ids: [[1]], token_type_ids: [[0]] }, {}, 'unsupported', 'token_type_ids'],
    [{ input_ids: [[1]], past_key_values: 3 }, {}, 'invalid_argument', 'past_key_values'],
    [{ input_ids: [[1]] }, { output_attention: true }, 'unsupported', 'output_attention'],
  ])('refuses %j with %j: %s', async (inputs, options, code, word) => {
    const failure = await failureOf(() => model(inputs as never, options as object));
    expect(failure.message).toContain(word);
    expect(failure.code).toBe(code);
  });

  it('rejects with the reason of a signal that is aborted already', async () => {
    const reason = new Error('not now');
    await expect(model({ input_ids }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('describes itself', () => {
    expect(model.cfg).toMatchObject({
      model_type: 'llama',
      n_layers: 5,
      n_heads: 8,
      d_model: 64,
      d_vocab: 512,
      n_ctx: 512,
      eps: 1e-5, // as the file says it, not as a float32
    });
    expect(model.config).toMatchObject({ architectures: ['LlamaForCausalLM'], rms_norm_eps: 1e-5 });
    expect(model.generation_config).toMatchObject({ bos_token_id: 1, eos_token_id: 2, max_new_tokens: 200 });
    expect(model.unexpected_tensors).toEqual([]);
    expect(model.info()).toMatchObject({ simd: 'simd128', relaxed: false, worker: false, threads: { used: 1 } });
    expect(model.info().weightsBytes).toBe(4 * 260_032);
    expect(model.info().heapBytes).toBeGreaterThan(model.info().weightsBytes);
    expect(model.info().version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
