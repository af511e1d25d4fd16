// Weights under TransformerLens' names, as properties of its models, and the circuits of heads.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { WeightProcessing } from '../runtime/border.js';
import { ClearformerError, quoted } from '../support/error.js';
import { checkKinds, throwIfAborted } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall } from './check_call.js';
import { FactoredMatrix } from './factored_matrix.js';
import { inLayer } from './layer_hooks.js';

type Weight = Promise<Tensor<'float32'>>;

/** The numbers of what has an index, in the model's shape. */
const counts = { layer: 'n_layers', head: 'n_heads', neuron: 'd_mlp' } as const;

/**
 * A model's weights as TransformerLens names and orients them. Each call reads the weight anew, also after an edit;
 * layers and heads count from 0. Of an encoder-decoder they are the decoder's, of CLIP those of the text; others are
 * read by `model.parameter`. Rejects as that does.
 */
export class LensWeights {
  readonly #model: PreTrainedModel;
  readonly #options: WeightProcessing;

  constructor(model: PreTrainedModel, options: WeightProcessing = {}) {
    checkCall('LensWeights', model, options, ['fold_ln', 'center_writing_weights', 'with_adapters']);
    this.#model = model;
    this.#options = options;
  }

  /** [d_vocab, d_model] */
  W_E(): Weight {
    return this.#read('W_E');
  }
  /** [position, d_model] */
  W_pos(): Weight {
    return this.#read('W_pos');
  }
  /** [d_model, d_vocab] */
  W_U(): Weight {
    return this.#read('W_U');
  }
  /** [d_vocab] */
  b_U(): Weight {
    return this.#read('b_U');
  }
  /** [head, d_model, d_head] */
  W_Q(layer: number): Weight {
    return this.#attention(layer, 'W_Q');
  }
  /** [head, d_model, d_head], of grouped queries one per key/value head */
  W_K(layer: number): Weight {
    return this.#attention(layer, 'W_K');
  }
  /** [head, d_model, d_head], of grouped queries one per key/value head */
  W_V(layer: number): Weight {
    return this.#attention(layer, 'W_V');
  }
  /** [head, d_head, d_model] */
  W_O(layer: number): Weight {
    return this.#attention(layer, 'W_O');
  }
  /** [head, d_head] */
  b_Q(layer: number): Weight {
    return this.#attention(layer, 'b_Q');
  }
  /** [head, d_head] */
  b_K(layer: number): Weight {
    return this.#attention(layer, 'b_K');
  }
  /** [head, d_head] */
  b_V(layer: number): Weight {
    return this.#attention(layer, 'b_V');
  }
  /** [d_model] */
  b_O(layer: number): Weight {
    return this.#attention(layer, 'b_O');
  }
  /** [d_model, d_mlp] */
  W_in(layer: number): Weight {
    return this.#mlp(layer, 'W_in');
  }
  /** [d_model, d_mlp], of gated feed-forward layers */
  W_gate(layer: number): Weight {
    return this.#mlp(layer, 'W_gate');
  }
  /** [d_mlp, d_model] */
  W_out(layer: number): Weight {
    return this.#mlp(layer, 'W_out');
  }
  /** [d_mlp] */
  b_in(layer: number): Weight {
    return this.#mlp(layer, 'b_in');
  }
  /** [d_model] */
  b_out(layer: number): Weight {
    return this.#mlp(layer, 'b_out');
  }
  /** [d_mlp], of gated feed-forward layers */
  b_gate(layer: number): Weight {
    return this.#mlp(layer, 'b_gate');
  }

  /** W_Q·W_Kᵀ of a head [d_model, d_model]: which positions it attends to from which. */
  async QK(layer: number, head: number): Promise<FactoredMatrix> {
    const [query, key] = await Promise.all([this.W_Q(layer), this.W_K(layer)]);
    return new FactoredMatrix(this.#head(query, head), this.#head(key, head).transpose(0, 1));
  }
  /** W_V·W_O of a head [d_model, d_model]: what it writes where it attends. */
  async OV(layer: number, head: number): Promise<FactoredMatrix> {
    const [value, output] = await Promise.all([this.W_V(layer), this.W_O(layer)]);
    return new FactoredMatrix(this.#head(value, head), this.#head(output, head));
  }

  /**
   * ‖OV·C‖ / (‖OV‖·‖C‖) of all pairs of heads [layer, head, later layer, head], where C of the later head is QK ('Q'),
   * its transpose ('K') or OV ('V'), and 0 for pairs that do not follow each other. Source: Elhage et al. 2021, "A
   * Mathematical Framework for Transformer Circuits". Rejects with the abort signal's reason between two layers.
   */
  async all_composition_scores(mode: 'Q' | 'K' | 'V', signal?: AbortSignal): Weight {
    checkKinds('LensWeights.all_composition_scores', { signal });
    const { n_layers, n_heads } = this.#model.cfg;
    const size = n_heads * n_layers * n_heads;
    const scores = new Float32Array(n_layers * size);
    for (let layer = 0; layer < n_layers; layer++) {
      throwIfAborted(signal);
      const { engine, model } = this.#model.open();
      const { data } = await engine.call('composition_scores', { model, layer, mode, ...this.#options }, signal);
      scores.set(data, layer * size);
    }
    return new Tensor('float32', scores, [n_layers, n_heads, n_layers, n_heads]);
  }

  /** Sets the output weights of a head to zero: it adds nothing anymore. `model.undo_edits(1)` takes it back. */
  ablate_head(layer: number, head: number): Promise<number> {
    return this.#zero(layer, 'attn.W_O', 'head', head);
  }
  /** Sets the output weights of a neuron to zero. `model.undo_edits(1)` takes it back. */
  ablate_neuron(layer: number, neuron: number): Promise<number> {
    return this.#zero(layer, 'mlp.W_out', 'neuron', neuron);
  }

  async #zero(layer: number, weight: string, what: keyof typeof counts, index: number): Promise<number> {
    this.#check(what, index);
    return this.#model.edit_parameter(this.#name(layer, weight), { op: 'zero', at: [index] });
  }

  async #attention(layer: number, leaf: string): Weight {
    return this.#read(this.#name(layer, `attn.${leaf}`));
  }
  async #mlp(layer: number, leaf: string): Weight {
    return this.#read(this.#name(layer, `mlp.${leaf}`));
  }
  #name(layer: number, weight: string): string {
    this.#check('layer', layer);
    return inLayer(this.#model, layer, weight);
  }
  #check(what: keyof typeof counts, index: number): void {
    const count = this.#model.cfg[counts[what]] as number;
    if (Number.isInteger(index) && index >= 0 && index < count) return;
    throw new ClearformerError('invalid_argument', `LensWeights: there is no ${what} ${quoted(index)} of ${count}`);
  }
  #read(name: string): Weight {
    return this.#model.parameter(name, this.#options);
  }

  /** The head's matrix, or that of its key/value head. */
  #head(weights: Tensor<'float32'>, head: number): Tensor<'float32'> {
    this.#check('head', head);
    return weights.slice(Math.floor(head / (this.#model.cfg.n_heads / (weights.dims[0] ?? 1))));
  }
}
