// Whole models: ours through the package, the peers on graphs with the same weights.

import { shapes } from '../models/shapes.js';
import type { DType, Input, Item, ModelName, Shape, Task } from '../types.js';
import { onnxruntime, ours, precisions, wllama } from './contenders.js';

/** 10⁹ operations of one pass: matrices, scores and weighted sums, without embeddings and heads. */
function amountOf(
  { layers, d, hidden }: Shape,
  { batch = 1, length = 1, past = 0 }: Input,
  causal: boolean,
): { gflop: number } {
  const seen = past + (causal ? length / 2 : length);
  return { gflop: (batch * length * layers * (2 * d * (4 * d + 2 * hidden) + 4 * seen * d)) / 1e9 };
}

interface ModelWork {
  id: string;
  part: string;
  title: string;
  task: Task;
  model: ModelName;
  input: Input;
  /** Whether it uses a cache. */
  cached?: boolean;
}

export function modelItem({ id, part, title, task, model, input, cached = false }: ModelWork, dtype: DType): Item {
  const shape = shapes[model];
  const given: Input = { vocabulary: shape.vocabulary, ...input };
  const peerInput: Input = {
    ...given,
    kind: task === 'image' ? 'image' : 'text',
    ids64: shape.family === 'gpt2',
    heads: shape.heads,
    headSize: shape.d / shape.heads,
  };
  return {
    id: `${id}-${dtype}`,
    part,
    title: `${title}, ${dtype}`,
    amount: task === 'image' ? undefined : amountOf(shape, input, shape.family === 'gpt2'),
    contenders(setting) {
      const peer = (precision: DType, options: { name?: string; keepCache?: boolean } = {}) =>
        onnxruntime(
          {
            dtype: precision,
            make: { make: 'model', model, precision: precisions[precision] },
            input: peerInput,
            ...options,
          },
          setting,
        );
      const peers = [peer(dtype)];
      // A peer's narrow weights may be slower than its wide ones: the fastest is compared.
      if (precisions[dtype] !== 'fp32') peers.push(peer('fp32'));
      if (cached) peers.push(peer(dtype, { name: 'with its cache', keepCache: true }));
      if (cached && dtype === 'q8') peers.push(peer('q4'));
      const inBrowser = setting.engine === 'chromium' || setting.engine === 'firefox';
      if (shape.family === 'gpt2' && inBrowser) peers.push(wllama({ task, model, dtype, input: given }, setting));
      const wider: Partial<Record<DType, DType>> = { q4: 'q8', fp16: 'fp32' };
      const beside = cached ? wider[dtype] : undefined;
      const dtypes: DType[] = beside ? [dtype, beside] : [dtype];
      return [...ours({ task, model, input: given, dtypes }, setting), ...peers];
    },
  };
}

const of = (dtypes: readonly DType[], item: ModelWork): Item[] => dtypes.map((dtype) => modelItem(item, dtype));
const everyType: readonly DType[] = ['fp32', 'q8', 'q4'];

const minilm = { part: 'minilm', task: 'encode', model: 'minilm' } as const;
const gpt2 = { part: 'gpt2', model: 'gpt2' } as const;
/** GPT-2 with room for more positions: as many operations a layer. */
const gpt2Long = { part: 'gpt2', model: 'gpt2-long' } as const;
const decode = (past: number, model: typeof gpt2 | typeof gpt2Long = gpt2): ModelWork => ({
  ...model,
  id: `gpt2-decode-${past}`,
  title: `GPT-2, a token at context ${past}`,
  task: 'decode',
  input: { length: 1, past },
  cached: true,
});

export const modelItems = [
  ...of(everyType, { ...minilm, id: 'minilm-1x128', title: 'MiniLM, 128 tokens', input: { batch: 1, length: 128 } }),
  ...of(everyType, {
    ...minilm,
    id: 'minilm-8x128',
    title: 'MiniLM, batch 8 of 128',
    input: { batch: 8, length: 128 },
  }),
  ...of(everyType, {
    ...gpt2,
    id: 'gpt2-prefill-128',
    title: 'GPT-2, prefill of 128',
    task: 'prefill',
    input: { length: 128 },
  }),
  ...of([...everyType, 'fp16'], decode(128)),
  ...of(everyType, decode(1023)),
  ...of(everyType, decode(2047, gpt2Long)),
  ...of(['fp32', 'q8'], {
    ...gpt2Long,
    id: 'gpt2-prefill-2048',
    title: 'GPT-2, prefill of 2,048',
    task: 'prefill',
    input: { length: 2048 },
  }),
  ...of(['fp32'], {
    part: 'vit',
    id: 'vit-b16',
    title: 'ViT-B/16, one image',
    task: 'image',
    model: 'vit-b16',
    input: { size: 224 },
  }),
];

export const encoder = (model: ModelName, length: number): ModelWork => ({
  part: 'scaling',
  id: `scaling-${model}-${length}`,
  title: `${model}, ${length} tokens`,
  task: 'encode',
  model,
  input: { batch: 1, length },
});

/** Scaling with the number of tokens, and with the size of the model at 128 tokens. */
export const scalingItems = [
  ...[32, 64, 256, 512].map((length) => encoder('minilm', length)),
  ...(['bert-2x128', 'bert-4x256', 'bert-12x768'] as const).map((model) => encoder(model, 128)),
].flatMap((item) => of(['fp32'], item));
