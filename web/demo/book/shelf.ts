// The models in use: each is loaded once and kept, and its forward passes are cached for a while.
// Dispatches 'change' while a model loads.

import {
  type ActivationCache,
  type ActivationEdit,
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoTokenizer,
  ClearformerError,
  type GenerativeModel,
  type HookName,
  type ImageProcessor,
  type LoadOptions,
  type ModelInputs,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  type Tensor,
} from 'clearformer';
import { type BundledName, bundled, bundledFiles, isBundled } from './bundled.js';
import { remembered } from './remembered.js';
import { TokenTexts } from './token_texts.js';

/** A loaded model with its tokenizer or processor. */
export interface Shelved {
  readonly name: string;
  readonly model: PreTrainedModel;
  /** The same model, if it generates. */
  readonly writer?: GenerativeModel;
  readonly tokenizer?: PreTrainedTokenizer;
  readonly texts?: TokenTexts;
  readonly processor?: ImageProcessor;
}

/** The inputs of a pass; passes with equal keys are shared. */
export interface PassInputs {
  readonly model: string;
  readonly key: string;
  readonly inputs: ModelInputs;
  /** Edits of the figure itself, in addition to the reader's. */
  readonly edits?: readonly ActivationEdit[];
}

export interface Pass {
  readonly logits: Tensor<'float32'>;
  readonly cache: ActivationCache;
}

const bytesOf = ({ logits, cache }: Pass): number =>
  Object.values(cache).reduce((sum, { data }) => sum + data.byteLength, logits.data.byteLength);

/** The captured activation of a hook; throws if there is none of that name. */
export function activation({ cache }: Pick<Pass, 'cache'>, name: string): Tensor<'float32'> {
  const found = (cache as Readonly<Record<string, Tensor<'float32'>>>)[name];
  if (found) return found;
  throw new ClearformerError('invalid_argument', `${name} is not among the activations that were asked for`);
}

/** Edits that are large or expensive to create: created only if no pass with an equal key is cached. */
export interface PreparedEdits {
  readonly key: string;
  make(): Promise<readonly ActivationEdit[]>;
}

interface PassOptions {
  /** Names of hooks; `*` is a wildcard. */
  names: readonly string[];
  edits?: readonly ActivationEdit[] | PreparedEdits;
}

/** Progress of a load; `total` is 0 while unknown. */
interface Loading {
  readonly name: string;
  readonly loaded: number;
  readonly total: number;
}

const keptPasses = 24;
/** Bytes of activations; the passes of a large model are forgotten sooner. */
const keptBytes = 128e6;

export class Shelf extends EventTarget {
  /** How many models of the reader's own there have been: all have the same name. */
  adopted = 0;
  readonly #models = new Map<string, Promise<Shelved>>();
  readonly #passes = new Map<string, Promise<Pass>>();
  /** The bytes of the passes that are done. */
  readonly #sizes = new Map<string, number>();
  /** The model that is being loaded. */
  loading: Loading | undefined;

  /** A bundled model or the reader's own. Rejects with the loader's error; the next call tries again. */
  model(name: string): Promise<Shelved> {
    if (isBundled(name)) return remembered(this.#models, name, () => this.#load(name));
    const known = this.#models.get(name);
    if (known) return known;
    const message =
      name === 'own'
        ? 'no model of your own has been opened yet, or not since the page was loaded: its files are not kept'
        : `there is no bundled model '${name}'`;
    return Promise.reject(new ClearformerError('invalid_argument', message));
  }

  has(name: string): boolean {
    return this.#models.has(name);
  }

  /** Adds the reader's own model, replacing the previous one. */
  adopt(shelved: Shelved): void {
    const before = this.#models.get(shelved.name);
    this.#models.set(shelved.name, Promise.resolve(shelved));
    for (const key of [...this.#passes.keys()]) if (key.startsWith(`${shelved.name}\n`)) this.#passes.delete(key);
    void before?.then(({ model }) => model.dispose());
    this.adopted++;
    this.dispatchEvent(new Event('change'));
  }

  /** A forward pass that captures the named hooks. */
  pass(given: PassInputs, { names, edits: added = [] }: PassOptions): Promise<Pass> {
    const own = given.edits ?? [];
    const told = 'make' in added ? [JSON.stringify(own), added.key] : [JSON.stringify([...own, ...added])];
    const key = [given.model, given.key, names.join(), ...told].join('\n');
    const known = this.#passes.get(key);
    if (known) {
      this.#passes.delete(key);
      this.#passes.set(key, known);
      return known;
    }
    const pass = this.#run(given, names, 'make' in added ? added : { key: '', make: async () => added });
    this.#passes.set(key, pass);
    void pass.then(
      (made) => this.#forget(key, made),
      () => this.#passes.delete(key),
    );
    return pass;
  }

  /** Forgets the oldest passes beyond what is kept, never the one just made. */
  #forget(made: string, pass: Pass): void {
    if (this.#passes.has(made)) this.#sizes.set(made, bytesOf(pass));
    const sizeOf = (key: string): number => this.#sizes.get(key) ?? 0;
    let bytes = [...this.#passes.keys()].reduce((sum, key) => sum + sizeOf(key), 0);
    for (const key of [...this.#passes.keys()]) {
      if (key === made || (this.#passes.size <= keptPasses && bytes <= keptBytes)) continue;
      bytes -= sizeOf(key);
      this.#passes.delete(key);
    }
    for (const key of [...this.#sizes.keys()]) if (!this.#passes.has(key)) this.#sizes.delete(key);
  }

  async #run({ model, inputs, edits = [] }: PassInputs, names: readonly string[], added: PreparedEdits): Promise<Pass> {
    const shelved = await this.model(model);
    const observed = { names_filter: [...names] as HookName[], edits: [...edits, ...(await added.make())] };
    const [logits, cache] = await shelved.model.run_with_cache(inputs, observed);
    return { logits, cache };
  }

  async #load(name: BundledName): Promise<Shelved> {
    const tell = (loaded: number, total: number): void => {
      this.loading = { name, loaded, total };
      this.dispatchEvent(new Event('change'));
    };
    tell(0, 0);
    try {
      return await shelve(name, bundled[name].task, await bundledFiles(name), {
        progress_callback: ({ loaded, total }) => tell(loaded, total),
      });
    } finally {
      this.loading = undefined;
      this.dispatchEvent(new Event('change'));
    }
  }
}

type Source = Parameters<typeof AutoModelForCausalLM.from_pretrained>[0];

/** Loads the classes of a task from a folder. */
export async function shelve(name: string, task: string, source: Source, options: LoadOptions): Promise<Shelved> {
  const { signal } = options;
  if (task === 'image-classification') {
    const processor = await AutoImageProcessor.from_pretrained(source, { signal });
    return { name, model: await AutoModelForImageClassification.from_pretrained(source, options), processor };
  }
  const tokenizer = await AutoTokenizer.from_pretrained(source, { signal });
  const texts = new TokenTexts(tokenizer);
  if (task === 'masked-lm') {
    return { name, model: await AutoModelForMaskedLM.from_pretrained(source, options), tokenizer, texts };
  }
  const Auto = task === 'seq2seq-lm' ? AutoModelForSeq2SeqLM : AutoModelForCausalLM;
  const writer = await Auto.from_pretrained(source, options);
  return { name, model: writer, writer, tokenizer, texts };
}
