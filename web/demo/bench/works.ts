// The measured works: those of `npm run bench` (tests/bench/items), on models with the same random weights, made in the
// page. Each has our package in the build that this browser runs, onnxruntime-web if it is asked for, and for narrow
// weights our fp32, with which the outputs are compared.

import { encoder, modelItem, modelItems } from '../../../tests/bench/items/models.js';
import type { Contender, DType, Item } from '../../../tests/bench/types.js';

export const modelChoices = ['small', 'minilm', 'gpt2'] as const;
export type ModelChoice = (typeof modelChoices)[number];
/** The kinds of work, which the catalogue names. */
export type WorkName = 'read' | 'prefill' | 'decode';

export interface Work {
  readonly name: WorkName;
  readonly dtype: DType;
  readonly item: Item;
}

const dtypes: readonly DType[] = ['fp32', 'q8', 'q4'];

/** Of an item of the bench by its id without the dtype. */
const known =
  (id: string) =>
  (dtype: DType): Item => {
    const found = modelItems.find((item) => item.id === `${id}-${dtype}`);
    if (!found) throw new RangeError(`the bench has no item ${id}-${dtype}`);
    return found;
  };

const itemsOf: Readonly<Record<ModelChoice, Partial<Record<WorkName, (dtype: DType) => Item>>>> = {
  small: { read: (dtype) => modelItem(encoder('bert-2x128', 128), dtype) },
  minilm: { read: known('minilm-1x128') },
  gpt2: { prefill: known('gpt2-prefill-128'), decode: known('gpt2-decode-128') },
};

export interface Choice {
  readonly model: ModelChoice;
  /** Whether onnxruntime-web is measured as well. */
  readonly beside: boolean;
  /** The build of our package that this browser runs. */
  readonly variant: string;
}

/** The contenders of an item that are measured in the page. */
function chosen(item: Item, exact: Item, dtype: DType, { beside, variant }: Choice): Item {
  return {
    ...item,
    contenders(setting) {
      const ours = (each: Item): Contender[] =>
        each.contenders(setting).filter((one) => one.role === 'ours' && one.variant === variant);
      const own = ours(item).filter((one) => one.dtype === dtype);
      const peers = item.contenders(setting).filter((one) => one.peer === 'onnxruntime-web' && one.dtype === dtype);
      const others = beside ? peers.filter(({ spec }) => !spec.keepCache) : [];
      return [...own, ...(dtype === 'fp32' ? [] : ours(exact)), ...others];
    },
  };
}

export function worksOf(choice: Choice): Work[] {
  return Object.entries(itemsOf[choice.model]).flatMap(([name, make]) =>
    dtypes.map((dtype) => ({ name: name as WorkName, dtype, item: chosen(make(dtype), make('fp32'), dtype, choice) })),
  );
}
