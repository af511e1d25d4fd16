// Runs a circuit: the model with some edges of its graph removed. Over a removed edge the reader's input changes by
// what the sender adds on the other inputs minus what it adds in this run, which is known once the layers before it are
// computed: a run goes layer by layer.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { ClearformerError } from '../../support/error.js';
import { Tensor } from '../../tensor/tensor.js';
import { expectInputs } from '../check_call.js';
import { attentionScale, requireAttention } from '../layer_hooks.js';
import { requireSum } from '../residual_parts.js';
import { requireSameDims } from '../same_dims.js';
import type { GraphShape, Receiver } from './circuit_graph.js';

type Floats = Tensor<'float32'>;

/** What each node adds to the residual stream [batch, pos, d_model], by its name. */
type Added = Map<string, Floats>;

const hookOf = (layer: number, leaf: string) => `blocks.${layer}.${leaf}` as HookName;

/** What the nodes of a layer add, from a pass that captured it; `scale` is attentionScale()'s. */
function addIn(added: Added, layer: number, scale: number | Floats, results: Floats, mlp: Floats): void {
  const [, , heads = 0] = results.dims;
  for (let head = 0; head < heads; head++) {
    added.set(`a${layer}.h${head}`, (results.slice(null, null, head, null) as Floats).mul(scale));
  }
  added.set(`m${layer}`, mlp);
}

/** A model with edges removed. */
export class CircuitRun {
  readonly shape: GraphShape;
  readonly #model: PreTrainedModel;
  readonly #inputs: ModelInputs;
  /** The stream before each layer and after the last, and what nodes add: without removed edges, on both inputs. */
  readonly #streams: Floats[];
  readonly #clean: Added;
  readonly #other: Added;
  readonly #removed = new Map<string, Set<string>>();
  readonly #signal: AbortSignal | undefined;

  private constructor(
    model: PreTrainedModel,
    inputs: ModelInputs,
    [own, other]: readonly [Recorded, Recorded],
    signal: AbortSignal | undefined,
  ) {
    this.#model = model;
    const { attention_mask, position_ids } = inputs;
    this.#inputs = { ...(attention_mask && { attention_mask }), ...(position_ids && { position_ids }) };
    this.#streams = own.streams;
    this.#clean = own.added;
    this.#other = other.added;
    this.#signal = signal;
    this.shape = shapeOf(model);
  }

  /** Runs both inputs. Throws `unsupported` if what nodes add does not sum up to the stream. */
  static async of(
    model: PreTrainedModel,
    base: ModelInputs,
    source: ModelInputs,
    signal: AbortSignal | undefined,
  ): Promise<CircuitRun> {
    requireGraph(model);
    expectInputs('acdc', { base, source });
    const [own, other] = [await recorded(model, base, signal), await recorded(model, source, signal)];
    const [stream, wanted] = [own, other].map(({ streams }) => streams[0]) as [Floats, Floats];
    requireSameDims('acdc', 'the stream', stream, wanted, ['base', 'source']);
    requireSameSum(own, other);
    return new CircuitRun(model, base, [own, other], signal);
  }

  /** Removes an edge for good. */
  remove({ name }: Receiver, sender: string): void {
    this.#removed.set(name, new Set([...(this.#removed.get(name) ?? []), sender]));
  }

  /** The logits without one edge more; only edges to this receiver and later ones may have been removed. */
  async without(receiver: Receiver, sender: string, kept: readonly number[] | undefined): Promise<Floats> {
    const before = this.#removed.get(receiver.name);
    this.remove(receiver, sender);
    try {
      return await this.logits([receiver], kept);
    } finally {
      if (before === undefined) this.#removed.delete(receiver.name);
      else this.#removed.set(receiver.name, before);
    }
  }

  /** The logits of the circuit, computed from the layer of the first of the receivers on (none: the logits'). */
  async logits(from: readonly Receiver[], kept: readonly number[] | undefined): Promise<Floats> {
    const { layers } = this.shape;
    const added: Added = new Map(this.#clean);
    const first = Math.min(layers, ...from.map(({ layer }) => layer));
    let stream = this.#streams[first] as Floats;
    for (let layer = first; layer < layers; layer++) stream = await this.#layer(layer, stream, added);
    const residual = this.#shifted(stream, this.#difference('logits', added));
    const options = { start_at_layer: layers, signal: this.#signal, ...(kept && { logits_to_keep: kept }) };
    return this.#model.run_with_hooks({ ...this.#inputs, residual }, options);
  }

  /** Computes a layer; the MLP's input may change by what heads of the same layer add, which takes a second pass. */
  async #layer(layer: number, residual: Floats, added: Added): Promise<Floats> {
    const { heads, keyValueHeads } = this.shape;
    const results = hookOf(layer, 'attn.hook_result');
    const output = hookOf(layer, 'hook_mlp_out');
    const edits = (['q', 'k', 'v'] as const).flatMap((part) =>
      Array.from({ length: part === 'q' ? heads : keyValueHeads }, (_, head): ActivationEdit[] => {
        const value = this.#difference(`a${layer}.h${head}<${part}>`, added);
        return value ? [{ hook: hookOf(layer, `hook_${part}_input`), head, op: 'add', value }] : [];
      }).flat(),
    );
    const names_filter = [results, output];
    const options = { start_at_layer: layer, stop_at_layer: layer + 1, names_filter, signal: this.#signal };
    const inputs = { ...this.#inputs, residual };
    const [stream, cache] = await this.#model.run_with_cache(inputs, { ...options, edits });
    const scale = await attentionScale(this.#model, layer);
    addIn(added, layer, scale, cache[results] as Floats, cache[output] as Floats);
    const value = this.#difference(`m${layer}`, added);
    if (value === undefined) return stream;
    const input: ActivationEdit = { hook: hookOf(layer, 'hook_mlp_in'), op: 'add', value };
    const [changed, after] = await this.#model.run_with_cache(inputs, { ...options, edits: [...edits, input] });
    added.set(`m${layer}`, after[output] as Floats);
    return changed;
  }

  /** Σ of what removed senders add on the other inputs minus what they add here; undefined if none is removed. */
  #difference(receiver: string, added: Added): Floats | undefined {
    const senders = this.#removed.get(receiver);
    if (senders === undefined || senders.size === 0) return undefined;
    const { dims, data } = added.get('input') as Floats;
    const sum = new Float32Array(data.length);
    for (const sender of senders) {
      const [own, other] = [added, this.#other].map((all) => (all.get(sender) as Floats).data);
      for (let i = 0; i < sum.length; i++)
        sum[i] = (sum[i] as number) + ((other?.[i] as number) - (own?.[i] as number));
    }
    return new Tensor('float32', sum, dims);
  }

  #shifted(stream: Floats, by: Floats | undefined): Floats {
    if (by === undefined) return stream;
    return new Tensor(
      'float32',
      stream.data.map((value, i) => value + (by.data[i] as number)),
      stream.dims,
    );
  }
}

/** The stream before each layer and after the last, and what each node adds. */
interface Recorded {
  streams: Floats[];
  added: Added;
}

async function recorded(model: PreTrainedModel, inputs: ModelInputs, signal?: AbortSignal): Promise<Recorded> {
  const { n_layers } = model.cfg;
  const leaves = ['hook_resid_pre', 'attn.hook_result', 'hook_mlp_out'];
  const names_filter = Array.from({ length: n_layers }, (_, layer) => leaves.map((leaf) => hookOf(layer, leaf))).flat();
  const [last, cache] = await model.run_with_cache(inputs, { names_filter, stop_at_layer: n_layers, signal });
  const streams = Array.from({ length: n_layers }, (_, layer) => cache[hookOf(layer, 'hook_resid_pre')] as Floats);
  const added: Added = new Map([['input', streams[0] as Floats]]);
  for (let layer = 0; layer < n_layers; layer++) {
    const [results, mlp] = ['attn.hook_result', 'hook_mlp_out'].map((leaf) => cache[hookOf(layer, leaf)] as Floats);
    addIn(added, layer, await attentionScale(model, layer), results as Floats, mlp as Floats);
  }
  return { streams: [...streams, last], added };
}

function shapeOf(model: PreTrainedModel): GraphShape {
  const { n_layers, n_heads, n_key_value_heads } = model.cfg;
  const sequential = model.hooks().some(({ name }) => name === 'blocks.0.hook_resid_mid');
  return { layers: n_layers, heads: n_heads, keyValueHeads: n_key_value_heads as number, sequential };
}

const refused = (reason: string) => new ClearformerError('unsupported', `acdc: ${reason}`);

function requireGraph(model: PreTrainedModel): void {
  if (model.cfg.kind !== 'decoder-only') throw refused(`${model.cfg.model_type} is not decoder-only`);
  requireSum('acdc', model);
  requireAttention('acdc', model);
  const names = new Set<string>(model.hooks({ on_request: true }).map(({ name }) => name));
  for (const leaf of ['hook_q_input', 'hook_mlp_in', 'attn.hook_result']) {
    if (!names.has(`blocks.0.${leaf}`)) throw refused(`${model.cfg.model_type} has no ${leaf}`);
  }
}

/** The streams after the last layer differ by the differences of all that is added, up to rounding. */
function requireSameSum(own: Recorded, other: Recorded): void {
  const [last, wanted] = [own, other].map(({ streams }) => (streams.at(-1) as Floats).data) as [
    Float32Array,
    Float32Array,
  ];
  const sum = Float64Array.from(last);
  for (const [name, { data }] of own.added) {
    const others = (other.added.get(name) as Floats).data;
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (others[i] as number) - (data[i] as number);
  }
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const worst = sum.reduce((most, value, i) => Math.max(most, Math.abs(value - (wanted[i] as number))), 0);
  if (!(worst <= 1e-3 * largest)) throw refused('what heads and MLPs add does not sum up to the residual stream');
}
