// Control vectors: a direction in the residual stream for each layer, found from pairs of opposite texts and added while
// the model generates. Names and formulas are repeng's, files those of repeng and llama.cpp.
// Source: Zou et al. 2023, "Representation Engineering", arXiv 2310.01405; Vogel 2024, repeng.

import type { ActivationEdit, EditIndices } from '../../models/edits.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { SavedFiles } from '../../models/saving.js';
import { ClearformerError, quoted, textOf } from '../../support/error.js';
import { isA } from '../../support/kinds.js';
import { checkOptions, expectKnown } from '../../support/options.js';
import { loadPart } from '../../support/platform.js';
import { exportedTensor } from '../../tensor/exported_tensor.js';
import { toSafetensors } from '../../tensor/safetensors.js';
import type { Tensor } from '../../tensor/tensor.js';
import { checkCall } from '../check_call.js';
import { inLayer } from '../layer_hooks.js';
import type { SweepProgress } from '../sweep/sweep.js';
import { type FeatureRows, featuresAt, type ProbedInput, vector } from './features.js';
import { readGguf, writeGguf } from './gguf.js';
import { readVectors } from './vector_file.js';

/** Two texts, or inputs of the model, that differ in what the vector is to control. */
export interface ContrastPair {
  positive: ProbedInput;
  negative: ProbedInput;
}

/** How a control vector is found. */
export interface ControlVectorOptions {
  /**
   * `pca_diff` (default): the principal direction of the differences of the pairs; `pca_center`: of all states, less
   * the middle of their pair; unit vectors whose sign is that of the positive ones. `mean_diff`: the mean difference.
   */
  method?: 'pca_diff' | 'pca_center' | 'mean_diff' | undefined;
  /** The layers (all but the first). Their outputs are read, at the last position that is not padding, and steered. */
  hidden_layers?: readonly number[] | undefined;
  /** An abort signal: the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Called after each text. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

const call = 'ControlVector';
const architecture = 'controlvector';
const finding = () => loadPart(() => import('./contrast_direction.js')); // rarely needed
const refused = (option: string, why: string) =>
  new ClearformerError('invalid_argument', `${call}: ${why}`, { option });

/** A direction in the residual stream for some layers. */
export class ControlVector {
  /** The model type it was made for. */
  readonly model_type: string;
  /** By layer, from 0: what is added to its output, [d_model]. */
  readonly directions: ReadonlyMap<number, Tensor<'float32'>>;

  constructor(model_type: string, directions: ReadonlyMap<number, Tensor<'float32'>>) {
    if (typeof model_type !== 'string') throw refused('model_type', `model_type is ${textOf(model_type)}, no text`);
    if (!(directions instanceof Map))
      throw refused('directions', `${textOf(directions)} is no Map of vectors by layer`);
    if (directions.size === 0) throw refused('directions', 'there are no directions');
    let width: number | undefined;
    for (const [layer, direction] of directions as Map<unknown, unknown>) {
      if (!Number.isSafeInteger(layer) || (layer as number) < 0)
        throw refused('directions', `${textOf(layer)} is no layer`);
      const { dims, size } = exportedTensor(`${call}: layer ${layer}`, direction);
      width ??= size;
      const fits = (direction as Tensor).type === 'float32' && dims.length === 1 && size === width && size > 0;
      if (!fits) throw refused('directions', `layer ${layer} has dims [${dims}], expected [${width}] of float32`);
    }
    this.model_type = model_type;
    this.directions = new Map([...directions].sort(([a], [b]) => a - b));
  }

  /**
   * Finds the directions from pairs. Each text is one pass, of which the core returns one position. Rejects with
   * `invalid_argument` for no pairs (`pca_diff`: fewer than two), and as `run_with_cache` does.
   */
  static async train(
    model: PreTrainedModel,
    dataset: readonly ContrastPair[],
    options: ControlVectorOptions = {},
  ): Promise<ControlVector> {
    checkCall(`${call}.train`, model, options, ['method', 'hidden_layers', 'signal', 'progress']);
    const { method = 'pca_diff', signal, progress } = options;
    expectKnown(`${call}.train`, 'method', method, ['pca_diff', 'pca_center', 'mean_diff']);
    if (!Array.isArray(dataset) || dataset.length < (method === 'pca_diff' ? 2 : 1)) {
      throw refused('dataset', `${method} needs a list of ${method === 'pca_diff' ? 'at least two ' : ''}pairs`);
    }
    const all = Array.from({ length: model.cfg.n_layers - 1 }, (_, layer) => layer + 1);
    const layers = options.hidden_layers ?? all;
    if (!Array.isArray(layers) || new Set(layers).size < layers.length) {
      throw refused('hidden_layers', 'hidden_layers must be a list of different layers');
    }
    const hooks = layers.map((layer) => hookOf(model, layer));
    const texts = (dataset as readonly ContrastPair[]).flatMap((pair, at) => {
      checkOptions(`${call}.train: dataset[${at}]`, pair ?? null, ['positive', 'negative']);
      return [pair.positive, pair.negative];
    });
    const found = await featuresAt(`${call}.train`, model, texts, { hooks, pos: -1, signal, progress });
    const { directionOf } = await finding();
    const directions = layers.map((layer, at) => {
      const states = found.get(hooks[at] as string) as FeatureRows;
      if (states.count !== texts.length) throw refused('dataset', 'each text or input of a pair is one sequence');
      return [layer, vector(directionOf(states, method))] as const;
    });
    return new ControlVector(model.cfg.model_type, new Map(directions));
  }

  /**
   * Edits that add `strength` times the directions to the layers' outputs, for `run_with_hooks` and `generate` of a model
   * in any dtype; without them the model is as it was. At all positions, or at `pos`. Throws `shape_mismatch` for a
   * model of another width, `invalid_argument` for layers that it does not have.
   */
  edits(model: PreTrainedModel, options: ControlOptions = {}): ActivationEdit[] {
    checkCall(`${call}.edits`, model, options, ['strength', 'pos']);
    const { strength = 1, pos } = options;
    expectNumber('strength', strength);
    return [...this.directions].map(([layer, direction]) => {
      if (direction.size !== model.cfg.d_model) {
        const problem = `${call}: directions of ${direction.size} numbers, and the model's width is ${model.cfg.d_model}`;
        throw new ClearformerError('shape_mismatch', problem);
      }
      const value = direction.mul(strength);
      return {
        hook: hookOf(model, layer) as ActivationEdit['hook'],
        op: 'add',
        value,
        ...(pos !== undefined && { pos }),
      };
    });
  }

  /** The sum with another; layers that one of them lacks are those of the other. */
  add(other: ControlVector): ControlVector {
    expectVector(other);
    const sum = new Map(this.directions);
    for (const [layer, direction] of other.directions) sum.set(layer, sum.get(layer)?.add(direction) ?? direction);
    return new ControlVector(this.model_type, sum);
  }
  /** The difference to another. */
  sub(other: ControlVector): ControlVector {
    expectVector(other);
    return this.add(other.mul(-1));
  }
  /** Times a number. */
  mul(factor: number): ControlVector {
    expectNumber('factor', factor);
    return new ControlVector(
      this.model_type,
      new Map([...this.directions].map(([layer, direction]) => [layer, direction.mul(factor)])),
    );
  }

  /** A file as repeng's export_gguf writes it; llama.cpp reads those without a direction of layer 0. */
  export_gguf(): SavedFiles[string] {
    const values = new Map<string, string | number>([
      ['general.architecture', architecture],
      [`${architecture}.model_hint`, this.model_type],
      [`${architecture}.layer_count`, this.directions.size],
    ]);
    return writeGguf({
      values,
      vectors: new Map(Object.entries(this.#named()).map(([name, { data }]) => [name, data.slice()])),
    });
  }

  /** Reads such a file. Throws `malformed_file` or `unsupported`, with what is wrong. */
  static import_gguf(bytes: Uint8Array): ControlVector {
    const { values, vectors } = readGguf(bytesOf('import_gguf', bytes));
    const kind = values.get('general.architecture');
    if (kind !== architecture) throw malformed(`general.architecture is ${textOf(kind)}, not '${architecture}'`);
    const hint = values.get(`${architecture}.model_hint`);
    return fromVectors(typeof hint === 'string' ? hint : '', vectors);
  }

  /** The same as safetensors: tensors direction.N, and model_hint among the metadata. */
  to_safetensors(): Uint8Array {
    return toSafetensors(this.#named(), { model_hint: this.model_type });
  }

  /** Reads such a file. Throws `malformed_file` or `unsupported`. */
  static from_safetensors(bytes: Uint8Array): ControlVector {
    const { metadata, vectors } = readVectors(bytesOf('from_safetensors', bytes));
    return fromVectors(metadata.model_hint ?? '', vectors);
  }

  #named(): Record<string, Tensor<'float32'>> {
    return Object.fromEntries([...this.directions].map(([layer, direction]) => [`direction.${layer}`, direction]));
  }
}

/** Options of `edits`. */
export interface ControlOptions {
  /** The factor of the directions (1); negative for the opposite. */
  strength?: number | undefined;
  pos?: EditIndices | undefined;
}

function expectNumber(option: string, given: unknown): void {
  if (!Number.isFinite(given)) throw refused(option, `${option} is ${textOf(given)}, no number`);
}

function expectVector(other: unknown): void {
  if (!(other instanceof ControlVector)) throw refused('other', `${textOf(other)} is no ControlVector`);
}

const malformed = (why: string) => new ClearformerError('malformed_file', `${call}: ${why}`);

function bytesOf(method: string, given: unknown): Uint8Array {
  if (isA(given, 'Uint8Array')) return given;
  throw new ClearformerError('invalid_argument', `${call}.${method}: needs a Uint8Array, got ${textOf(given)}`);
}

function fromVectors(model_type: string, vectors: ReadonlyMap<string, Float32Array>): ControlVector {
  const directions = new Map<number, Tensor<'float32'>>();
  for (const [name, data] of vectors) {
    if (!name.startsWith('direction.')) continue;
    if (!/^direction\.(0|[1-9]\d{0,4})$/.test(name)) throw malformed(`${JSON.stringify(name)} names no layer`);
    if (!data.every(Number.isFinite)) throw malformed(`${name} has numbers that are not finite`);
    directions.set(Number(name.slice('direction.'.length)), vector(data));
  }
  const widths = new Set([...directions.values()].map(({ size }) => size));
  if (widths.has(0)) throw malformed('a direction has no elements');
  if (widths.size !== 1)
    throw malformed(widths.size === 0 ? 'no tensor is a direction.N' : 'directions differ in size');
  return new ControlVector(model_type, directions);
}

function hookOf(model: PreTrainedModel, layer: number): string {
  const { n_layers } = model.cfg;
  if (Number.isInteger(layer) && layer >= 0 && layer < n_layers) return inLayer(model, layer, 'hook_resid_post');
  throw refused('hidden_layers', `there is no layer ${quoted(layer)} of ${n_layers}`);
}
