// The base class of all models: shape, hook points, runtime information, memory.

import type { Folder } from '../checkpoint/folder.js';
import type { Source } from '../checkpoint/source.js';
import type {
  ForwardArguments,
  ForwardValue,
  Handle,
  HookPoint,
  ModelShape,
  ParameterInfo,
  WeightType,
} from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { CallOrder } from '../support/call_order.js';
import { Callable } from '../support/callable.js';
import { isMissing } from '../support/error.js';
import { abortable, checkOptions } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';
import { readTokenizer, type TokenizerLoadOptions } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { LoraConfig } from './adapter_config.js';
import type { LoadAdapterOptions, MergeOptions, SetAdapterOptions } from './adapters.js';
import type { BackwardOptions, DifferentiableModel, DifferentiatedCache, Gradients } from './gradient.js';
import type { DifferentiableMetric } from './gradient_metric.js';
import { forwardIn, type ModelInputs } from './inputs.js';
import { KeyValueCache } from './key_value_cache.js';
import type { LoadedModel } from './loaded_model.js';
import { infoOf, type ModelInfo } from './model_info.js';
import type { AddAdapterOptions } from './new_adapter.js';
import { type ModelOutput, toOutput } from './outputs.js';
import type { ParameterEdit, ParameterOptions } from './parameters.js';
import {
  type ForwardOptions,
  hookOptions,
  type RunWithCacheOptions,
  type RunWithHooksOptions,
} from './pass_options.js';
import type { Destination, SavedFiles, SaveOptions } from './saving.js';

const editing = () => loadPart(() => import('./parameters.js')); // rarely needed
const adapting = () => loadPart(() => import('./adapters.js'));
const saving = () => loadPart(() => import('./saving.js'));
const differentiating = () => loadPart(() => import('./gradient.js'));
const observing = () => loadPart(() => import('./observation.js'));

export interface PreTrainedModel<Output extends ModelOutput = ModelOutput> {
  /**
   * Runs a forward pass. Rejects with `invalid_argument`, `shape_mismatch` or `dtype_mismatch` for invalid inputs,
   * `unsupported` for an input or option the model does not support, `disposed`, or the abort signal's reason.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (inputs: ModelInputs, options?: ForwardOptions): Promise<Output>;
}

/**
 * A model in an instance of the core of its own. Instances are callable: `await model({ input_ids })`. Release it with
 * `dispose()`.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class PreTrainedModel<Output extends ModelOutput = ModelOutput> extends Callable<
  [ModelInputs, ForwardOptions?],
  Promise<Output>
> {
  /** The model's shape, with TransformerLens' names. */
  readonly cfg: ModelShape;
  /** The parsed config.json. */
  readonly config: Record<string, unknown>;
  /**
   * Default generation options, which may be changed: generation_config.json, else the special tokens in config.json. What
   * the file says of outputs (`return_dict_in_generate`, `output_scores`, …) has no effect; what is set here has, in
   * `generate` and `generate_stream`.
   */
  readonly generation_config: Record<string, unknown>;
  /** The format of the weights of linear layers. */
  readonly dtype: WeightType;
  /** Tensors of the checkpoint that this architecture does not use. */
  readonly unexpected_tensors: readonly string[];
  readonly #loaded: LoadedModel;
  readonly #lease: Lease;
  readonly #order = new CallOrder();
  #tokenizer: Promise<PreTrainedTokenizer | undefined> | undefined;

  /** @internal */
  constructor(loaded: LoadedModel) {
    super();
    this.#loaded = loaded;
    this.cfg = loaded.cfg;
    this.config = loaded.config;
    this.generation_config = loaded.generationConfig;
    this.dtype = loaded.dtype;
    this.unexpected_tensors = loaded.unexpectedTensors;
    const { engine } = loaded;
    this.#lease = new Lease('this model', this, () => engine.close());
  }

  /** @internal */
  override async _call(inputs: ModelInputs, options: ForwardOptions = {}): Promise<Output> {
    checkOptions('model', options, [
      'output_attentions',
      'output_hidden_states',
      'use_cache',
      'logits_to_keep',
      'signal',
    ]);
    const { output_attentions = false, output_hidden_states = false, use_cache = false } = options;
    const request = { output_attentions, output_hidden_states, use_cache };
    if (inputs?.labels !== undefined) {
      const model = this.#differentiable();
      return this.#order.ask(this.#whole(differentiating), ({ outputWithLoss }) =>
        outputWithLoss(model, inputs, { ...request, ...options }),
      ) as Promise<Output>;
    }
    const prepare = options.logits_to_keep === undefined ? undefined : observing;
    const { value, past } = await this.#order.ask(prepare, (part) =>
      this.#forward('model', inputs, options, request, part?.keptIn),
    );
    return toOutput(value, past) as Output;
  }

  /**
   * A forward pass that captures activations: `[logits, cache]`, where the cache holds a Tensor under every selected
   * hook name; CLIP returns `logits_per_image`, a model without logits its first output. With `stop_at_layer` the pass
   * ends before that layer (0: after the embedding; for an encoder-decoder with `decoder_input_ids`, of the decoder;
   * for CLIP, of the tower that has inputs) and returns the residual stream [batch, position, d_model] there instead of
   * the logits; with `start_at_layer` it begins there with the input `residual`. With a `metric`, `cache.grad` holds
   * its gradients under the same names. Rejects like a call of the model; with `invalid_argument` for a name that no
   * hook of the pass has and an edit that does not fit its hook point, `shape_mismatch` for a value that does not fit,
   * `out_of_memory`, with the size and before computing, if memory is insufficient, and with what a function in
   * `fwd_hooks` throws.
   */
  async run_with_cache(
    inputs: ModelInputs,
    options: RunWithCacheOptions & { metric: DifferentiableMetric },
  ): Promise<[Tensor<'float32'>, DifferentiatedCache]>;
  async run_with_cache(
    inputs: ModelInputs,
    options?: RunWithCacheOptions,
  ): Promise<[Tensor<'float32'>, ActivationCache]>;
  async run_with_cache(
    inputs: ModelInputs,
    options: RunWithCacheOptions = {},
  ): Promise<[Tensor<'float32'>, ActivationCache]> {
    checkOptions('run_with_cache', options, ['names_filter', 'select', ...hookOptions]);
    const { names_filter = '*' } = options;
    return this.#observed('run_with_cache', inputs, { ...options, names_filter });
  }

  /**
   * A forward pass with edited activations: resolves to the logits (or the loss, see `return_type`), or what is
   * returned in their place (see `run_with_cache`, which accepts the same edits and also captures). Rejects like that.
   */
  async run_with_hooks(inputs: ModelInputs, options: RunWithHooksOptions = {}): Promise<Tensor<'float32'>> {
    checkOptions('run_with_hooks', options, hookOptions);
    const [logits] = await this.#observed('run_with_hooks', inputs, options);
    return logits;
  }

  /**
   * The gradients of a metric (a loss, logits, read-outs of activations or outputs, or a function) with respect to
   * activations, inputs, weights and the values of edits; edits are part of what is differentiated. Memory is linear in
   * the number of tokens. Rejects like `run_with_cache`; with `invalid_argument` without a metric and
   * for what the pass does not have, `unsupported` for `past_key_values` and for what has no gradient, such as a
   * function in
   * `fwd_hooks` that changes an activation.
   */
  async backward(inputs: ModelInputs, options: BackwardOptions): Promise<Gradients> {
    const model = this.#differentiable(); // throws `disposed` at once
    return this.#order.run(this.#whole(differentiating), ({ gradients }, issued) =>
      gradients('backward', { ...model, issued }, inputs, options),
    );
  }

  #with<P, R>(load: () => Promise<P>, use: (part: P) => Promise<R>): Promise<R> {
    return this.#order.ask(this.#whole(load), use);
  }

  /** Later calls wait for it, since it reads and writes what is known of adapters. */
  #adapt<R>(use: (part: Awaited<ReturnType<typeof adapting>>) => Promise<R>): Promise<R> {
    return this.#order.run(this.#whole(adapting), use);
  }

  /** Loads a part of the package, and that of the core with its functions. */
  #whole<P>(load: () => Promise<P>): () => Promise<P> {
    const { engine } = this.open();
    return async () => (await Promise.all([load(), engine.addParts(['second'])]))[0];
  }

  #differentiable(): DifferentiableModel {
    return { ...this.open(), hooks: this.#loaded.hooks, cfg: this.cfg };
  }

  async #observed(
    call: string,
    inputs: ModelInputs,
    options: RunWithCacheOptions,
  ): Promise<[Tensor<'float32'>, ActivationCache]> {
    this.open();
    if ((options.metric ?? options.bwd_hooks ?? options.return_type) !== undefined) {
      return this.#order.run(this.#whole(differentiating), ({ observedWithGradient }, issued) =>
        observedWithGradient(call, { ...this.#differentiable(), issued }, inputs, options),
      );
    }
    const prepare = async () => (await observing()).observedPass(call, this.#differentiable(), inputs, options);
    return this.#order.ask(prepare, (pass) => pass((...given) => this.#forward(call, inputs, options, ...given)));
  }

  async #forward(
    call: string,
    inputs: ModelInputs,
    options: Pick<ForwardOptions, 'logits_to_keep' | 'signal'>,
    request: Partial<ForwardArguments>,
    keptIn: typeof import('./observation.js').keptIn | undefined,
  ): Promise<{ value: ForwardValue; past: KeyValueCache | undefined }> {
    const { engine, model } = this.open();
    const { logits_to_keep, signal } = options;
    const given = forwardIn(call, inputs, engine);
    const held = inputs?.past_key_values;
    if (held?.filling) {
      await held.filling;
      return this.#forward(call, inputs, options, request, keptIn);
    }
    const own = { ...request, ...(held?.isEmpty && { use_cache: true }) };
    if (logits_to_keep !== undefined && keptIn) own.logits_to_keep = keptIn(logits_to_keep, given);
    const running = engine.call('model_forward', { model, ...given, ...own }, signal);
    if (held?.isEmpty) await held.fillWith(engine, running);
    // A call that was complete before its abort resolves if it leaves something in a cache.
    const value = await (held || own.use_cache ? running : abortable(running, signal));
    const handle = value.past_key_values;
    return { value, past: held ?? (handle ? new KeyValueCache(engine, handle) : undefined) };
  }

  /**
   * The points of the forward pass that can be captured and edited, with their dims and axes. `on_request`: also those
   * computed only where a filter names them, as `'*.hook_result'` does and `'*'` does not: what each head reads
   * (`hook_q_input`, `hook_k_input`, `hook_v_input`) and adds (`hook_result`, without Granite's and DINO's factors),
   * and what the feed-forward network reads (`hook_mlp_in`).
   */
  hooks(options: { on_request?: boolean | undefined } = {}): HookPoint[] {
    checkOptions('hooks', options, ['on_request']);
    return this.#loaded.hooks
      .filter((hook) => options.on_request || !hook.on_request)
      .map((hook) => ({ ...hook, dims: [...hook.dims], axes: [...hook.axes] }));
  }

  /** The model's weights: the tensors of its checkpoint, in the order of the layers. */
  async named_parameters(): Promise<ParameterInfo[]> {
    const { engine, model } = this.open();
    return (await engine.call('parameter_list', { model })).parameters;
  }

  /**
   * A copy of a weight under its name in the checkpoint, in the file's dims and orientation, or under TransformerLens'
   * name in its orientation: `W_E`, `W_pos`, `W_U`, `b_U`, `blocks.0.attn.W_Q` [head, d_model, d_head] (grouped keys
   * and values: one per key/value head), `W_O` [head, d_head, d_model], `b_Q`, `blocks.0.mlp.W_in`, `W_gate`,
   * `W_out`, `blocks.0.ln1.w`, `ln_final.b` and so on; biases of projections that the model does not have are zeros.
   * float16 is widened, q8 and q4 are dequantised. Rejects with `invalid_argument` for a name or a part that does not
   * exist, and `unsupported` where processing would change the model.
   */
  async parameter(name: string, options: ParameterOptions = {}): Promise<Tensor<'float32'>> {
    return this.#with(editing, ({ readParameter }) => readParameter(this.open(), name, options));
  }

  /**
   * Changes a weight, or a part of it, under either name: later passes use the edited one, without reloading. A tied
   * table changes in both places. Keys and values of a cache remain those of the weights that computed them. With dtype
   * fp16 numbers are rounded to it. Resolves to the number of edits in force; `undo_edits` takes them back. A pass in
   * progress ends first. Rejects with `unsupported` for q8 and q4 (load the model with `fp32` or `fp16`) and for biases
   * that the model does not have, `shape_mismatch` for a value of other dims; then nothing is changed.
   */
  async edit_parameter(name: string, edit: ParameterEdit): Promise<number> {
    return this.#with(editing, ({ editParameter }) => editParameter(this.open(), name, edit));
  }

  /**
   * Takes back the last `count` edits of weights, by default all: the weights have the bits they had before, without what
   * was trained there since. Resolves to the number still in force. Rejects with `invalid_argument` if there are fewer.
   */
  async undo_edits(count?: number): Promise<number> {
    const { engine, model } = this.open();
    return (await this.#order.ask(undefined, () => engine.call('parameter_undo', { model, count }))).edits;
  }

  /**
   * Loads a LoRA adapter of PEFT (adapter_config.json, adapter_model.safetensors) and puts it, alone, in force: later
   * passes add scale · B · A to the weights, of any dtype, which do not change. See web/examples/training.md. Resolves to
   * its name. Rejects with `unsupported` for what PEFT has beyond matrices of linear layers, `invalid_argument` for modules
   * that this model does not have, `shape_mismatch`, `missing_tensor`, and like `from_pretrained`; nothing changes then.
   */
  async load_adapter(source: Source, options: LoadAdapterOptions = {}): Promise<string> {
    const read = async () => (await adapting()).readAdapter(this, source, options);
    return this.#order.run(read, (add) => add());
  }
  /**
   * Makes a new LoRA adapter, as PEFT's `get_peft_model` does, and puts it, alone, in force; an optimiser with the option
   * `adapter` trains it. B is zero at first, so that nothing changes. Resolves to its name. Rejects with `invalid_argument`
   * for values that are none and names that no module has, `unsupported` for other keys of LoraConfig that are not neutral
   * and for layers that are not linear; nothing changes then.
   */
  async add_adapter(config: LoraConfig, options: AddAdapterOptions = {}): Promise<string> {
    const make = async () => (await adapting()).newAdapter(this, config, options);
    return this.#order.run(make, (add) => add());
  }
  /** Puts the adapters of these names in force, added up, and no others; `scale` are factors of their scales. */
  async set_adapter(names: string | readonly string[], options: SetAdapterOptions = {}): Promise<void> {
    return this.#adapt(({ setAdapter }) => setAdapter(this, names, options));
  }
  /** Later passes are those of the model without adapters, bit for bit, until `enable_adapters`, or one is set or loaded. */
  async disable_adapters(): Promise<void> {
    return this.#adapt(({ enableAdapters }) => enableAdapters(this, false));
  }
  /** Puts those that were set last in force again. */
  async enable_adapters(): Promise<void> {
    return this.#adapt(({ enableAdapters }) => enableAdapters(this, true));
  }
  /** The names of the adapters in force. */
  async active_adapters(): Promise<string[]> {
    return this.#order.run(adapting, async ({ activeAdapters }) => activeAdapters(this));
  }
  /** Releases adapters; those in force are so no longer. */
  async delete_adapter(names: string | readonly string[]): Promise<void> {
    return this.#adapt(({ deleteAdapter }) => deleteAdapter(this, names));
  }
  /**
   * Makes what adapters add part of the weights, as edits, which `save_pretrained` writes and `undo_edits` takes back, and
   * releases all adapters. Resolves to the number of edits in force. Rejects with `unsupported` for q8 and q4, and
   * `invalid_argument` if no adapter is in force; nothing changes then.
   */
  async merge_and_unload(options: MergeOptions = {}): Promise<number> {
    return this.#adapt(({ mergeAndUnload }) => mergeAndUnload(this, options));
  }
  /** An adapter's files, of what is read of it, for `load_adapter` and PEFT, also written to `destination`. */
  async save_adapter(name: string, destination?: Destination): Promise<SavedFiles> {
    return this.#order.run(this.#whole(saving), ({ saveAdapter }, issued) =>
      saveAdapter(this, name, destination, issued),
    );
  }

  /**
   * The model's files, for `from_pretrained` here and in transformers, also written to `destination`: the weights with the
   * edits in force as float32 under the names in its checkpoint, config.json and generation_config.json, without adapters
   * and what it does not read (DINO's `mask_token`, Gemma 3's vision tower). Edits and steps after the call are not in
   * them, also if it is not awaited. Rejects with `unsupported` for q8 and q4, unless `dequantize`.
   */
  async save_pretrained(destination?: Destination, options: SaveOptions = {}): Promise<SavedFiles> {
    return this.#order.run(this.#whole(saving), ({ savePretrained }, issued) =>
      savePretrained(this, destination, options, issued),
    );
  }

  /** Runtime information and memory use. */
  info(): ModelInfo {
    return infoOf(this.#loaded, this.#lease.released);
  }

  /** Releases all memory at once; running calls reject with `disposed`. */
  dispose(): Promise<void> {
    return this.#lease.release();
  }
  /** For `using`: disposes without waiting. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }

  /** @internal The model's folder, how its files are read, and those that were read. */
  get files(): { folder: Folder; options: TokenizerLoadOptions; texts: LoadedModel['texts'] } {
    const { folder, fileOptions: options, texts } = this.#loaded;
    return { folder, options, texts };
  }

  /** @internal The order of its calls. */
  get calls(): CallOrder {
    return this.#order;
  }

  /** @internal The engine and the model's handle in it; throws `disposed`. */
  open(): { engine: Engine; model: Handle } {
    this.#lease.check();
    return { engine: this.#loaded.engine, model: this.#loaded.handle };
  }

  /** @internal The tokenizer in the model's folder, loaded on first use; undefined if there is none. */
  ownTokenizer(): Promise<PreTrainedTokenizer | undefined> {
    const { folder, fileOptions } = this.#loaded;
    this.#tokenizer ??= readTokenizer(folder, fileOptions).catch((thrown: unknown) => {
      if (isMissing(thrown)) return undefined;
      this.#tokenizer = undefined; // the next call retries
      throw thrown;
    });
    return this.#tokenizer;
  }
}
