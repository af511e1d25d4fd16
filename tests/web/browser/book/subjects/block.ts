// Deep links of chapter 7.

import { gelu, relu, softmax, Tensor } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

const internals = (name: string): Float32Array => {
  const found = readReferences(fixturePath('stories260K/prompt_internals.safetensors')).get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`no reference ${name}`);
  return found.data;
};
const width = 64;
const positions = (): number => internals('blocks.0.hook_resid_pre').length / width;
const last = (): number => positions() - 1;
const once = 't=Once+upon+a+time';

/** A hook that the diagram opens, compared with PyTorch's. */
const opened = (subject: string, hook: string, box: string): Subject => ({
  subject,
  address: `block?${once}&l=2&box=${box}`,
  source: `${hook}[0, 0:${positions()}]`,
  at: [
    [0, 0],
    [1, 17],
    [last(), 63],
  ],
  async expected() {
    const data = internals(hook);
    return [data[0] ?? 0, data[width + 17] ?? 0, data[last() * width + 63] ?? 0];
  },
  reference: true,
  tolerance: 2e-5, // ten times float32_error of the reference's stream
});

/** The neurons of the last token, compared with PyTorch's. */
const neurons = (subject: string, leaf: string): Subject => ({
  subject,
  address: `block?${once}&l=2&view=mlp`,
  source: `blocks.2.mlp.${leaf}[0, ${last()}]`,
  at: [
    [0, 0],
    [0, 100],
    [0, 171],
  ],
  async expected() {
    const data = internals(`blocks.2.mlp.${leaf}`);
    return [0, 100, 171].map((n) => data[last() * 172 + n] ?? Number.NaN);
  },
  reference: true,
  tolerance: 2e-5,
});

/** The neurons with another activation than the model's. */
const bent = (subject: string, curve: string, call: (x: Tensor<'float32'>) => Promise<Tensor<'float32'>>): Subject => ({
  subject,
  address: `block?${once}&l=2&view=mlp&act=${curve}`,
  source: `${curve}(blocks.2.mlp.hook_pre[0, ${last()}])`,
  at: [
    [0, 0],
    [0, 100],
    [0, 171],
  ],
  async expected() {
    const row = internals('blocks.2.mlp.hook_pre').slice(last() * 172);
    const { data } = await call(new Tensor('float32', row, [172]));
    return [0, 100, 171].map((n) => data[n] ?? Number.NaN);
  },
  tolerance: 2e-5,
});

async function encoderStream(library: Library): Promise<{ input: Tensor<'float32'>; output: Tensor<'float32'> }> {
  const model = await library.translator();
  const inputs = (await library.tokenizer('marian-tiny-en-fr'))('Lily went to the park.');
  const names_filter = ['encoder.0.hook_resid_pre', 'encoder.0.hook_normalized_resid_post'] as const;
  const [, cache] = await model.run_with_cache(inputs, { names_filter: [...names_filter] });
  const captured = (name: (typeof names_filter)[number]): Tensor<'float32'> => {
    const found = cache[name];
    if (!found) throw new Error(`${name} was not captured`);
    return found.slice(0);
  };
  return { input: captured(names_filter[0]), output: captured(names_filter[1]) };
}

export const subjects: readonly Subject[] = [
  opened('Residual stream before a block', 'blocks.2.hook_resid_pre', 'hook_resid_pre'),
  opened('Attention adds to the stream', 'blocks.2.hook_attn_out', 'hook_attn_out'),
  opened('Feed-forward network adds to the stream', 'blocks.2.hook_mlp_out', 'hook_mlp_out'),
  opened('Pre-norm: what a box reads', 'blocks.2.ln2.hook_normalized', 'ln2.hook_normalized'),
  neurons('Feed-forward network: before the activation', 'hook_pre'),
  neurons('Feed-forward network: the gate of SwiGLU', 'hook_pre_linear'),
  neurons('Feed-forward network: after SwiGLU', 'hook_post'),
  bent('Activation: ReLU', 'relu', (x) => relu(x)),
  bent('Activation: GELU', 'gelu', (x) => gelu(x)),
  {
    subject: 'Norms: the size that rows are divided by',
    address: `block?${once}&l=2&view=norm&box=ln1.hook_normalized`,
    source: `blocks.2.ln1.hook_scale[0, 0:${positions()}]`,
    at: [
      [0, 0],
      [1, 0],
      [last(), 0],
    ],
    async expected() {
      const data = internals('blocks.2.ln1.hook_scale');
      return [data[0] ?? 0, data[1] ?? 0, data[last()] ?? 0];
    },
    reference: true,
    tolerance: 1e-5,
  },
  {
    subject: 'Residual stream through all blocks',
    address: `block?${once}&view=stream`,
    source: `blocks.*.hook_resid_*[0, ${last()}]`,
    at: [
      [0, 0],
      [5, 17],
      [8, 63],
    ],
    async expected() {
      const at = (hook: string, i: number): number => internals(hook)[last() * width + i] ?? Number.NaN;
      return [at('blocks.0.hook_resid_pre', 0), at('blocks.2.hook_resid_mid', 17), at('blocks.4.hook_resid_pre', 63)];
    },
    reference: true,
    tolerance: 5e-5,
  },
  {
    subject: 'Encoder block, post-norm',
    address: 'block?who=marian-tiny-en-fr.encoder&l=0&view=order',
    source: 'nn.TransformerEncoderLayer(128, …).forward(encoder.0.hook_resid_pre)[0:8]',
    at: [
      [0, 0],
      [3, 60],
      [7, 127],
    ],
    async expected(library) {
      const { output } = await encoderStream(library);
      return [output.data[0] ?? 0, output.data[3 * 128 + 60] ?? 0, output.data[7 * 128 + 127] ?? 0];
    },
    tolerance: 1e-4,
  },
  {
    subject: 'Decoder block with cross-attention',
    address: 'block?who=marian-tiny-en-fr.decoder&l=1&box=hook_cross_attn_out',
    source: 'decoder.1.hook_cross_attn_out[0, 0:6]',
    at: [
      [0, 0],
      [3, 60],
      [5, 127],
    ],
    async expected(library) {
      const model = await library.translator();
      const inputs = (await library.tokenizer('marian-tiny-en-fr'))('Lily went to the park.');
      const ids = Array.from((await model.generate(inputs, { do_sample: false, num_beams: 1 })).slice(0).data, Number);
      const decoder_input_ids = [ids.slice(0, 6)];
      const name = 'decoder.1.hook_cross_attn_out';
      const [, cache] = await model.run_with_cache({ ...inputs, decoder_input_ids }, { names_filter: name });
      const { data = new Float32Array() } = cache[name] ?? {};
      return [data[0] ?? 0, data[3 * 128 + 60] ?? 0, data[5 * 128 + 127] ?? 0];
    },
    tolerance: 1e-4,
  },
  {
    subject: 'The weights of a block',
    address: 'block?step=8',
    source: "parameter('model.layers.2.self_attn.k_proj.weight')",
    at: [
      [0, 0],
      [17, 3],
      [31, 63],
    ],
    async expected(library) {
      const { data } = await (await library.stories()).parameter('model.layers.2.self_attn.k_proj.weight');
      return [data[0] ?? 0, data[17 * width + 3] ?? 0, data[31 * width + 63] ?? 0];
    },
  },
  {
    subject: 'The number of parameters',
    address: 'block?step=8',
    source: 'sums of the sizes of named_parameters()',
    at: [[0], [1], [2], [3]],
    async expected() {
      return [512 * width, 5 * (2 * width * width + 2 * width * 32), 5 * 3 * width * 172, 11 * width];
    },
  },
  {
    subject: 'Edits: a box is taken out',
    address: 'block?step=7',
    source: 'softmax(logits[0, -1])',
    at: [[0], [1], [2]],
    async expected(library) {
      const inputs = (await library.tokenizer())('Lily went to the park.');
      const edits = [{ hook: 'blocks.4.hook_attn_out', op: 'zero' } as const];
      const logits = await (await library.stories()).run_with_hooks(inputs, { edits });
      return [...(await softmax(logits.slice(0, -1))).data].sort((a, b) => b - a).slice(0, 3);
    },
    tolerance: 1e-6,
  },
];
