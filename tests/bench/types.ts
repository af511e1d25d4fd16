// The common types of the benchmarks.

import type { Machine } from './machine.js';
import type { Ratio } from './statistics.js';

export type Engine = 'chromium' | 'firefox' | 'node' | 'native';
export type DType = 'fp32' | 'fp16' | 'q8' | 'q4';
/** The peers' names for fp32, q8 and q4. */
export type Precision = 'fp32' | 'int8' | 'int4';
export type Task = 'encode' | 'prefill' | 'decode' | 'image' | 'watch';
export type ModelName =
  | 'bert-2x128'
  | 'bert-4x256'
  | 'minilm'
  | 'bert-12x768'
  | 'gpt2-tiny'
  | 'gpt2-100mb'
  | 'gpt2'
  | 'gpt2-long'
  | 'vit-b16';

/** The sizes of a model; those of texts and images are set if they apply. */
export interface Shape {
  family: 'bert' | 'gpt2' | 'vit';
  layers: number;
  d: number;
  heads: number;
  hidden: number;
  vocabulary: number;
  positions: number;
  /** Sides of the image and of a patch, in pixels. */
  image: number;
  patch: number;
  labels: number;
}

/** A contender's input; which members apply depends on the task or kind. */
export interface Input {
  kind?: 'text' | 'image' | 'product' | 'attention';
  batch?: number;
  length?: number;
  past?: number;
  vocabulary?: number;
  /** Hooks to capture. */
  names?: string;
  ids64?: boolean;
  heads?: number;
  headSize?: number;
  /** Side of an image in pixels. */
  size?: number;
  /** A product (m, k) · (k, n), or attention of n rows in `heads` heads of d. */
  m?: number;
  k?: number;
  n?: number;
  d?: number;
  /** A kernel or a peak rate. */
  work?: string;
}

/** Files of a checkpoint by name. */
export type Files = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** What contenders/ opens. Hosts replace `library` and what is loaded by paths; a page gives the things themselves. */
export interface Spec {
  kind: 'clearformer' | 'onnxruntime' | 'tensorflow' | 'wllama' | 'kernels' | 'startup' | 'loading' | 'native';
  library: string | object;
  input: Input;
  threads: number;
  variant?: string | undefined;
  dtype?: DType;
  task?: Task;
  cache?: 'none';
  /** Contenders with the same value run in one page or process, and share a model. */
  share?: string;
  runtime?: 'native' | 'web';
  keepCache?: boolean;
  starts?: 'clearformer' | 'onnxruntime' | 'tensorflow' | 'bytes';
  shape?: Shape;
  /** For the native program: an instruction set. */
  target?: string;
  wasmFolder?: string;
  checkpoint?: string | Files;
  /** A path without extension, or a graph and its weights. */
  graph?: string | { graph: Uint8Array; data: Uint8Array };
}

/** What models/make.ts makes. */
export type Source =
  | { make: 'checkpoint'; model: ModelName }
  | { make: 'model'; model: ModelName; precision: Precision }
  | { make: 'gguf'; model: ModelName; precision: Precision }
  | { make: 'product'; m: number; k: number; n: number; precision: Precision }
  | { make: 'attention'; n: number; heads: number; d: number; causal: boolean; form: string };

/** Distinguishes a contender from the others of its item. */
export interface Identity {
  name: string;
  role: 'ours' | 'peer' | 'limit';
  dtype: DType;
  variant?: string | undefined;
  peer?: string | undefined;
  captured?: string | undefined;
  /** If not as many as the run's other contenders have. */
  threads?: number | undefined;
}

export interface Contender extends Identity {
  make?: Source;
  /** What is loaded, if it is not generated. */
  path?: string;
  spec: Spec;
}

export interface Setting {
  engine: Engine;
  threads: number;
}

export interface Item {
  id: string;
  part: string;
  title: string;
  /** 10⁹ operations of one run. */
  amount?: { gflop: number } | undefined;
  engines?: readonly Engine[];
  /** Every run in a new page. */
  fresh?: boolean;
  contenders(setting: Setting): Contender[];
}

export interface Pace {
  rounds: number;
  /** Milliseconds of a slice. */
  budget: number;
  /** Only a few items, one engine, and the peers that are fast. */
  quick?: boolean;
}

export interface Sample {
  count: number;
  picked: number[];
  /** The values are known up to a constant that they have in common (logarithms of probabilities instead of logits). */
  shifted?: boolean;
}

/** Information about an opened contender. */
export type About = Readonly<Record<string, unknown>>;

/** A contender opened by a host. */
export interface Opened {
  about: About;
  sample(): Promise<Sample | undefined>;
  /** Milliseconds of one run. */
  time(budget: number): Promise<number>;
  close(): Promise<void>;
}

export interface Host {
  readonly version: string;
  open(id: string, spec: Spec, path: string | undefined): Promise<Opened>;
  stop(): Promise<void>;
}

export interface MeasuredContender extends Identity {
  about?: About | undefined;
  agreement?: string | undefined;
  /** The cosine of its outputs and those in fp32 of the same weights. */
  cosine?: number | undefined;
  unavailable?: string | undefined;
  /** Per round; a single median if the rounds were not kept. */
  milliseconds: number[];
  /** Ratios to other contenders by name, of measurements whose rounds were not kept. */
  ratios?: Readonly<Record<string, Ratio>> | undefined;
}

/** The measurement of one item. */
export interface Run extends Setting {
  id: string;
  title: string;
  part: string;
  amount?: { gflop: number } | undefined;
  date: string;
  engineVersion: string;
  pinned: string;
  versions: Readonly<Record<string, string>>;
  /** What else a reader must know of it. */
  note?: string;
  contenders: MeasuredContender[];
}

/** The measurements of one machine, by item, engine and threads. */
export interface Results {
  machine: Machine;
  measured: Record<string, Run>;
}
