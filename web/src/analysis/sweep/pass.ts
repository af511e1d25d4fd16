// One pass of a sweep: several interventions as rows of a batch, from the first layer and position that any of them
// changes.

import { partOf } from '../../models/cache_copy.js';
import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { RunInputs, TensorIn } from '../../runtime/border.js';
import type { ActivationCache } from '../../tensor/activation_cache.js';
import { Tensor } from '../../tensor/tensor.js';
import { type BaseRun, type Capture, editsFrom, latestStart, positionsFrom, tiled } from './base_run.js';
import { hasBatch } from './intervention.js';
import type { PlannedPass } from './plan.js';

type Floats = Tensor<'float32'>;

/** The logits [batch, kept, d_vocab] of an intervention, and the activations captured. */
export interface RowResult {
  index: number;
  logits: Floats;
  captured: ActivationCache;
}

/** Edits of the rows of the `at`-th intervention of a batch. */
function inRows(edits: readonly ActivationEdit[], at: number, batch: number): ActivationEdit[] {
  const first = at * batch;
  const rows = Array.from({ length: batch }, (_, row) => first + row);
  const placed = (row: number) => first + (row < 0 ? row + batch : row);
  return edits.map((edit) => {
    const { row = rows.map((_, own) => own) } = edit;
    return { ...edit, row: typeof row === 'number' ? placed(row) : row.map(placed) }; // rows that the batch has
  });
}

/** The inputs of a pass of so many interventions, from this layer and position on. */
function inputsOf(base: BaseRun, times: number, layer: number, position: number): ModelInputs {
  const { inputs, residuals, extent } = base;
  const given: Record<string, unknown> = {};
  const residual = layer > 0 ? residuals[layer] : undefined;
  const isText = (name: string) => !name.endsWith('attention_mask') && !name.endsWith('position_ids');
  const replaced = (name: string) => {
    const ofSource = extent.source > 0 && !name.startsWith('decoder_');
    return ofSource ? layer >= 0 : residual !== undefined && isText(name);
  };
  for (const [name, value] of Object.entries(inputs) as [keyof RunInputs, TensorIn | boolean][]) {
    if (replaced(name)) continue;
    const part = typeof value === 'boolean' || name.endsWith('attention_mask') ? value : positionsFrom(value, position);
    given[name] = typeof part === 'boolean' ? part : tiled(part, times);
  }
  if (residual !== undefined) {
    const { data, dims } = residual;
    given.residual = tiled(positionsFrom({ data, dims: [...dims] }, position), times);
  }
  return given as ModelInputs;
}

/** Runs a planned pass. Rejects as `run_with_cache` does. */
export async function runPass(
  base: BaseRun,
  pass: PlannedPass,
  capture: Capture | undefined,
  signal: AbortSignal,
): Promise<RowResult[]> {
  const { batch, extent, kept } = base;
  const { layer, members } = pass;
  const alone = members.length === 1 && members[0]?.alone === true;
  const shared = editsFrom(base, layer);
  const cache = layer < 0 ? undefined : base.cache;
  const position = cache ? Math.min(pass.position, latestStart(shared, base)) : 0;
  const times = members.length;
  const ofRows = (edit: ActivationEdit) => hasBatch(extent, edit);
  const edits = alone
    ? [...shared, ...(members[0]?.edits ?? [])]
    : [
        ...shared.filter((edit) => !ofRows(edit)),
        ...members.flatMap((member, at) => inRows([...shared.filter(ofRows), ...member.edits], at, batch)),
      ];
  const rows = Array.from({ length: times * batch }, (_, row) => row % batch);
  const use = { first_layer: layer, more: extent.length - position };
  const continues = position > 0 || extent.source > 0; // the cache also has what the encoder computed
  const past = cache && continues ? await partOf(cache, { rows, length: position }, use) : undefined;
  const own = position === 0 ? kept : kept?.filter((place) => place >= position).map((place) => place - position);
  try {
    const [logits, captured] = await base.model.run_with_cache(
      { ...inputsOf(base, times, layer, position), ...(past && { past_key_values: past }) },
      {
        names_filter: () => false,
        ...(own && { logits_to_keep: own }),
        ...capture,
        ...(layer > 0 && { start_at_layer: layer }),
        edits,
        signal,
      },
    );
    const parts = separate(base, logits, times, position);
    return members.map(({ index }, at) => ({
      index,
      logits: parts[at] as Floats,
      captured: Object.fromEntries(
        Object.entries(captured).map(([name, value]) => [name, rowsOf(value as Floats, at, times)]),
      ) as ActivationCache,
    }));
  } finally {
    await past?.dispose();
  }
}

/** The rows of the `at`-th of so many interventions. */
function rowsOf({ data, dims }: Floats, at: number, times: number): Floats {
  const size = data.length / times;
  return new Tensor('float32', data.subarray(at * size, (at + 1) * size), [(dims[0] ?? 0) / times, ...dims.slice(1)]);
}

/** The logits of each intervention; positions before `position` are those of the base run. */
function separate({ logits: whole, extent, kept }: BaseRun, logits: Floats, times: number, position: number): Floats[] {
  const parts = Array.from({ length: times }, (_, at) => rowsOf(logits, at, times));
  const places = kept ?? Array.from({ length: extent.length }, (_, place) => place);
  if (position === 0 || places.every((place) => place >= position)) return parts;
  return parts.map((part) => completed(whole, part, places, position));
}

/** The logits of the base run at places before `position`, those of a pass behind them. */
function completed(whole: Floats, part: Floats, places: readonly number[], position: number): Floats {
  const [batch = 0, , words = 0] = whole.dims;
  const all = whole.data.slice();
  const own = part.dims[1] as number;
  for (let row = 0; row < batch; row++) {
    let next = 0;
    places.forEach((place, at) => {
      if (place < position) return;
      const from = (row * own + next++) * words;
      all.set(part.data.subarray(from, from + words), (row * places.length + at) * words);
    });
  }
  return new Tensor('float32', all, [batch, places.length, words]);
}
