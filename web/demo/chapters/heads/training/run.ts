// A model in training, in a worker of its own, and what was measured of it by step.

import {
  AdamW,
  AutoModelForCausalLM,
  clip_grad_norm_,
  type GenerativeModel,
  headScores,
  log_softmax,
  type SavedFiles,
  sweep,
  Tensor,
} from 'clearformer';
import { batch, half, heads, measuringRows, mostNorm, optimizerOptions, type Settings, untrained } from './recipe.js';

type Float = Tensor<'float32'>;

/** A head, counted from 0. */
export interface Place {
  readonly layer: number;
  readonly head: number;
}

/** The mean loss of the tokens of the first half, and of the second. */
export type Halves = readonly [first: number, second: number];

/** What is measured at a step. */
export interface Point {
  readonly step: number;
  readonly losses: Halves;
  /** A score for each head, block by block. */
  readonly previous: readonly number[];
  readonly induction: readonly number[];
}

/** The attention maps of the first measuring row, [query, key], of all heads, block by block. */
export type Maps = readonly Float[];

/** The trained model looked into. */
export interface Opened {
  /** The loss of the second half without each head, [layers, heads]. */
  readonly without: Float;
  /** The heads that are silent, and with them: */
  readonly off: readonly Place[];
  readonly maps: Maps;
  readonly losses: Halves;
}

/** Steps between measurements. */
export const interval = 5;

export class Run {
  readonly settings: Settings;
  readonly rows: readonly (readonly number[])[];
  /** The steps done, and those done or under way. */
  step = 0;
  reached = 0;
  points: readonly Point[] = [];
  maps: Maps = [];
  opened: Opened | undefined;
  readonly #model: GenerativeModel;
  readonly #optimizer: AdamW;
  #saving: Promise<SavedFiles> | undefined;

  private constructor(settings: Settings, model: GenerativeModel) {
    this.settings = settings;
    this.rows = measuringRows(settings);
    this.#model = model;
    this.#optimizer = new AdamW(model, { lr: settings.lr, ...optimizerOptions, betas: [...optimizerOptions.betas] });
  }

  /** One thread: more would cost such a small model more than they save. The bits are the same in every browser. */
  static async start(settings: Settings): Promise<Run> {
    const options = { deterministic: true, numThreads: 1 };
    const run = new Run(settings, await AutoModelForCausalLM.from_pretrained(await untrained(settings), options));
    await run.measure();
    return run;
  }

  async train(): Promise<void> {
    this.reached = this.step + 1;
    this.opened = undefined;
    await this.#saving?.catch(() => {}); // no weights of two steps in one file
    const input_ids = batch(this.settings, this.step);
    await this.#optimizer.backward({ input_ids, labels: input_ids });
    await clip_grad_norm_(this.#optimizer, mostNorm);
    await this.#optimizer.step();
    this.step = this.reached;
  }

  /** Whether the model is measured as it is now. */
  get measured(): boolean {
    return this.points.at(-1)?.step === this.step;
  }

  /** Adds a point. One between the intervals is only kept while it is the last. */
  async measure(): Promise<void> {
    const { step } = this;
    const { losses, maps, scores } = await this.#look([]);
    const { previous_token, induction } = scores;
    const point = { step, losses, previous: [...previous_token.data], induction: [...induction.data] };
    this.points = [...this.points.filter((known) => known.step % interval === 0), point];
    this.maps = maps;
  }

  /** Ablates each head alone, and those of `off` together. */
  async open(off: readonly Place[]): Promise<void> {
    const places = Array.from({ length: this.settings.layers * heads }, (_, at) => placeOf(at));
    const base = { input_ids: this.rows.map((row) => [...row]) };
    const metric = async (logits: Float): Promise<number> => (await this.#halves(logits))[1];
    const { values } = await sweep(this.#model, { base, interventions: places.map(silence), metric });
    const without = new Tensor('float32', Float32Array.from(values), [this.settings.layers, heads]);
    const silenced = off.length > 0 ? await this.#look(off) : undefined;
    const { maps, losses } = silenced ?? { maps: this.maps, losses: this.points.at(-1)?.losses ?? [0, 0] };
    this.opened = { without, off, maps, losses };
  }

  /** The model as it is now, as files that transformers opens. */
  files(): Promise<SavedFiles> {
    const saved = this.#model.save_pretrained();
    this.#saving = saved;
    return saved;
  }

  /** Once what is being saved is read. */
  async dispose(): Promise<void> {
    await this.#saving?.catch(() => {});
    await this.#optimizer.dispose();
    await this.#model.dispose();
  }

  async #look(off: readonly Place[]) {
    const input_ids = this.rows.map((row) => [...row]);
    const edits = off.map(silence);
    const [logits, cache] = await this.#model.run_with_cache({ input_ids }, { names_filter: '*hook_pattern', edits });
    const maps = Array.from({ length: this.settings.layers }, (_, layer) =>
      Array.from({ length: heads }, (_, head) => patternOf(cache, layer).slice(0, head)),
    ).flat();
    return { losses: await this.#halves(logits), maps, scores: headScores(cache, input_ids) };
  }

  async #halves(logits: Float): Promise<Halves> {
    const logs = await log_softmax(logits);
    const mean = (from: number, to: number): number => {
      let sum = 0;
      this.rows.forEach((row, r) => {
        for (let at = from; at < to; at++) sum -= logs.slice(r, at - 1, row[at] ?? 0).item();
      });
      return sum / (this.rows.length * (to - from));
    };
    return [mean(1, half), mean(half + 1, 2 * half)];
  }
}

const patternOf = (cache: object, layer: number): Float =>
  (cache as Readonly<Record<string, Float>>)[`blocks.${layer}.attn.hook_pattern`] as Float;

export const placeOf = (at: number): Place => ({ layer: Math.floor(at / heads), head: at % heads });

/** `0.1,1.0`: head 1 of block 0 and head 0 of block 1. */
export function placesIn(text: string): readonly Place[] {
  return text.split(',').flatMap((part) => {
    const [layer, head] = part.split('.').map(Number);
    return part !== '' && layer !== undefined && head !== undefined && [0, 1].includes(layer) && [0, 1].includes(head)
      ? [{ layer, head }]
      : [];
  });
}

const silence = ({ layer, head }: Place) => ({ hook: `blocks.${layer}.attn.hook_z`, head, op: 'zero' }) as const;
