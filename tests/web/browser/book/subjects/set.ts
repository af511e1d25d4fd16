// Deep links of chapter 2.

import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

/** The sorter's letters of a committed reference, and the mean over the heads of PyTorch's weights for them. */
function sorted(): { letters: string; mean: (query: number, key: number) => number } {
  const all = readReferences(fixturePath('real_models/sort.safetensors'));
  const ids = Array.from(all.get('sort_logits.input_ids')?.data ?? [], Number);
  const { dims, data } = all.get('sort_logits.attentions.0') ?? { dims: [], data: [] };
  const [, heads = 1, n = 0] = dims;
  const mean = (query: number, key: number): number => {
    const each = Array.from({ length: heads }, (_, head) => Number(data[(head * n + query) * n + key]));
    return each.reduce((sum, weight) => sum + weight, 0) / heads;
  };
  return { letters: ids.map((id) => 'ABC'[id]).join(''), mean };
}

const { letters, mean } = sorted();

/** The output of the first attention for the sorter's own input. */
async function attended(library: Library, ids: readonly number[]): Promise<(place: number, index: number) => number> {
  const model = await library.writer('gpt-nano-sort');
  const [, cache] = await model.run_with_cache({ input_ids: [[...ids]] }, { names_filter: 'blocks.0.hook_attn_out' });
  const out = (cache as Record<string, { slice(...at: number[]): { item(): number } }>)['blocks.0.hook_attn_out'];
  return (place, index) => Number(out?.slice(0, place, index).item());
}

export const subjects: readonly Subject[] = [
  {
    subject: 'Permutations: with positions and mask the layer is the model’s own',
    address: `set?letters=${letters}&pos=1&mask=1&o=0.1.2.3.4.5.6.7.8.9.10`,
    source: `nn.MultiheadAttention(48, 3)(x, x, x, { is_causal: true })[1], x = layer_norm(wte[${letters}] + wpe[0:${letters.length}])`,
    at: [
      [1, 0],
      [5, 2],
      [10, 3],
      [10, 10],
    ],
    expected: async () => [mean(1, 0), mean(5, 2), mean(10, 3), mean(10, 10)],
    reference: true,
    tolerance: 1e-6, // of weights up to 1
  },
  {
    subject: 'Permutations: moved letters, read in their new order',
    address: 'set?letters=CABBAC&pos=1&mask=1&o=3.0.5.1.4.2',
    source: 'nn.MultiheadAttention(48, 3)(x, x, x, { is_causal: true })[0], x = layer_norm(wte[BCCAAB] + wpe[0:6])',
    at: [
      [0, 0],
      [2, 17],
      [5, 47],
    ],
    async expected(library) {
      const out = await attended(library, [1, 2, 2, 0, 0, 1]);
      return [out(0, 0), out(2, 17), out(5, 47)];
    },
    tolerance: 1e-6, // the page's attention and the model's sum in different orders
  },
];
