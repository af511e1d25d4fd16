// Describes a folder without loading a weight. The core inspects config.json and the headers of the safetensors files;
// this file finds the folder's files.

import { indexName, notFound, readOptional, readPlain, readRequired, weightsName } from '../checkpoint/files.js';
import type { Folder, SourceFile } from '../checkpoint/folder.js';
import { findOtherWeights, inOtherFormats, missingWeights } from '../checkpoint/other_formats.js';
import { headerStart, sizeFrom } from '../checkpoint/weights_header.js';
import { run } from '../primitives/shared_core.js';
import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { sentencePieces } from '../text/special_tokens.js';
import { compareWithIndex, listed } from './headers.js';
import type { Inspection, InspectOptions, Problem, TokenizerFiles } from './inspection.js';

/** A safetensors file and its first bytes: up to the end of its header if that can be read. */
export interface InspectedFile {
  file: SourceFile;
  bytes: number;
  start: Uint8Array;
}

/** @internal What readers of the weights are given. */
export interface Inspected {
  inspection: Inspection;
  weights: InspectedFile[];
  /** Names of embedding tables that must be equal: headers do not tell. */
  tied: ReadonlySet<string>;
}

/** What the core tells; see runtime/border.ts. */
type Facts = Inspection & { readable: string[]; same_tensors: string[] };

/** @internal Describes an open folder. */
export async function inspectFolder(
  folder: Folder,
  options: Pick<InspectOptions, 'task' | 'signal'>,
): Promise<Inspected> {
  const look = new Look(folder, options.signal);
  const [config, generation, weights] = await Promise.all([
    look.text('config.json', readConfig),
    look.text('generation_config.json', readOptional),
    look.weights(),
  ]);
  const inspected = async (task: string | undefined) => {
    const { facts, cfg } = await run('inspect', {
      config,
      index: look.index,
      generation_config: generation,
      task,
      files: weights.map(({ file, bytes, start }) => ({ name: file.name, bytes, start })),
    });
    return { ...(JSON.parse(facts) as Facts), cfg: cfg ?? null };
  };
  let found = await inspected(options.task);
  if (options.task === undefined && (await look.isPooled(found))) found = await inspected('feature-extraction');
  const unknown = { kind: null, task: null, input_modalities: [] };
  const { readable, same_tensors, ...known } = found;
  if (known.problems.length > 0) {
    const { withKnown } = await refusals();
    for (const problem of known.problems) problem.message = withKnown(problem.message, config);
  }
  const bytes: Record<string, number> = {};
  const whole = weights.filter(({ file }) => readable.includes(file.name));
  const tensors = whole.flatMap(({ file, start }) => listed(file.name, start, bytes));
  if (look.index !== undefined) look.problems.push(...compareWithIndex(look.index, tensors, readable));
  const told: Inspection = { ...unknown, ...known, tensors, bytes };
  const companions = await look.companions(told);
  const other_formats = inOtherFormats([...((await folder.list?.()) ?? []), ...look.files.map(({ name }) => name)]);
  throwIfAborted(options.signal);
  // What is there may be why something is missing; files are read in parallel
  const rank = ({ code, file = '' }: Problem) => `${code !== 'unsupported'} ${file}`;
  const inOrder = look.problems.sort((a, b) => Number(rank(a) > rank(b)) - Number(rank(a) < rank(b)));
  const problems = [...inOrder, ...told.problems];
  const files = look.files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const others = { files, other_formats: [...new Set(other_formats)] };
  // In models of other kinds an output layer or bias that differs from what it is tied to is no error.
  const stored = new Set(known.kind === 'encoder-decoder' ? tensors.map(({ name }) => name) : []);
  const tied = new Set(same_tensors.filter((name) => stored.has(name)));
  return { inspection: { ...told, ...companions, ...others, valid: isValid(problems), problems }, weights, tied };
}

/** @internal */
export function isValid(problems: readonly Problem[]): boolean {
  return !problems.some(({ severity }) => severity === 'error');
}

const refusals = () => loadPart(() => import('../checkpoint/refused_models.js'));

async function readConfig(...given: Parameters<typeof readRequired>): ReturnType<typeof readRequired> {
  try {
    return await readRequired(...given);
  } catch (error) {
    throw await (await refusals()).explained(error, given[0], given[2]?.signal);
  }
}

/** @internal Converts an error to a problem. */
export function problemOf({ code, message, details }: ClearformerError, severity: Problem['severity']): Problem {
  return { code, severity, message, ...(details.file !== undefined && { file: details.file }) };
}

/** An inspection in progress: the files and problems found. */
class Look {
  readonly problems: Problem[] = [];
  readonly files: { name: string; bytes: number | null }[] = [];
  index: string | undefined;
  readonly #folder: Folder;
  readonly #signal: AbortSignal | undefined;

  constructor(folder: Folder, signal: AbortSignal | undefined) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** The text of a file that describes the model. */
  async text(
    name: string,
    read: typeof readOptional | typeof readPlain | typeof readRequired,
  ): Promise<string | undefined> {
    const file = await this.#attempt(() => read(this.#folder, name, { signal: this.#signal }));
    if (file !== undefined) this.files.push({ name, bytes: file.bytes });
    return file?.text;
  }

  /** Whether sentence-transformers pools the outputs of a language model: its head is not used, and often left out. */
  async isPooled({ task, pipelines }: Facts): Promise<boolean> {
    if (!task?.endsWith('-lm') || !pipelines.includes('feature-extraction')) return false;
    return /\bPooling"/.test((await this.text('modules.json', readPlain)) ?? '');
  }

  /**
   * The safetensors files with their first bytes. Throws `file_not_found` if the folder contains no part of a model.
   */
  async weights(): Promise<InspectedFile[]> {
    const whole = await this.#attempt(() => this.#find(weightsName));
    if (whole !== undefined) return this.#starts([whole]);
    if (this.#isTold(weightsName)) return [];
    this.index = await this.text(indexName, readOptional);
    if (this.index === undefined) {
      if (!this.#isTold(indexName)) await this.#noWeights();
      return [];
    }
    const text = this.index;
    const shards = await this.#attempt(() => run('checkpoint_index', { text, name: indexName }), 'told elsewhere');
    const found = (shards?.files ?? []).map((name) =>
      this.#attempt(async () => {
        const file = await this.#find(name);
        if (file === undefined) throw notFound(this.#folder, name);
        return file;
      }),
    );
    return this.#starts((await Promise.all(found)).filter((file) => file !== undefined));
  }

  /** A file that is none where a server answers with a page. */
  async #find(name: string): Promise<SourceFile | undefined> {
    const file = await this.#folder.find(name, this.#signal);
    return file?.html ? undefined : file;
  }

  async #starts(files: readonly SourceFile[]): Promise<InspectedFile[]> {
    const started = await Promise.all(
      files.map((file) =>
        this.#attempt(async () => {
          const start = await headerStart(file, this.#signal);
          return { file, start, bytes: sizeFrom(file, start) };
        }),
      ),
    );
    const read = started.filter((file) => file !== undefined);
    for (const { file, bytes } of read) this.files.push({ name: file.name, bytes });
    return read;
  }

  async #noWeights(): Promise<void> {
    const other = await this.#attempt(() => findOtherWeights(this.#folder, this.#signal));
    const { where } = this.#folder;
    if (other !== undefined) {
      this.files.push({ name: other.file, bytes: null });
      this.#tell(new ClearformerError('unsupported', other.message, { file: other.file, where }));
      return;
    }
    const isBare = async () => (await this.#folder.find('config.json', this.#signal)) === undefined;
    if (await this.#attempt(isBare, 'told elsewhere')) {
      const { refusedFolder } = await refusals();
      const stranger = await this.#attempt(() => refusedFolder(this.#folder, this.#signal));
      if (stranger !== undefined) return; // which is what is told of config.json
      throw new ClearformerError('file_not_found', `there is nothing of a model in ${where}`, { where });
    }
    this.#tell(await missingWeights(this.#folder));
  }

  /** The files that prepare the model's inputs, for its modalities. */
  async companions({ kind, input_modalities }: Inspection): Promise<Pick<Inspection, 'tokenizer' | 'processor'>> {
    const reads = (modality: 'text' | 'image' | 'audio') => kind === null || input_modalities.includes(modality);
    const tokenizer = reads('text') ? await this.#tokenizer() : null;
    const processor = reads('image') || reads('audio') ? await this.#found(processorFiles) : [];
    if (kind !== null && reads('text')) this.#expectTokenizer(tokenizer);
    if (kind !== null && (reads('image') || reads('audio')) && processor.length === 0) {
      this.#warnOf('preprocessor_config.json');
    }
    return { tokenizer, processor };
  }

  async #tokenizer(): Promise<TokenizerFiles | null> {
    for (const [kind, ...files] of tokenizers) {
      const found = await this.#found(kind === 'sentencepiece' ? sentencePieces : [kind]);
      if (found.length > 0) return { kind, files: [...found, ...(await this.#found(files))] };
    }
    return null;
  }

  #expectTokenizer(tokenizer: TokenizerFiles | null): void {
    if (tokenizer === null) this.#warnOf('tokenizer.json');
    if (tokenizer?.kind !== 'sentencepiece') return;
    const [file] = tokenizer.files as [string];
    const remedy = "save the tokenizer with transformers' save_pretrained, which writes tokenizer.json";
    this.#tell(new ClearformerError('unsupported', `${file} is not read: ${remedy}`, { file }), 'warning');
  }

  async #found(names: readonly string[]): Promise<string[]> {
    const found = await Promise.all(names.map((name) => this.#attempt(() => this.#find(name))));
    const there = found.filter((file) => file !== undefined);
    for (const { name, size } of there) this.files.push({ name, bytes: size });
    return there.map(({ name }) => name);
  }

  /** The result of `read`; an invalid file becomes a problem, an unreadable source is thrown to the caller. */
  async #attempt<T>(read: () => Promise<T>, as: 'told' | 'told elsewhere' = 'told'): Promise<T | undefined> {
    try {
      return await read();
    } catch (thrown) {
      const unreadable = ['network_error', 'wasm_unavailable', 'poisoned', 'invalid_argument']; // none is the folder's
      if (!(thrown instanceof ClearformerError) || unreadable.includes(thrown.code)) throw thrown;
      if (thrown.code === 'file_not_found' && thrown.details.file === undefined) throw thrown; // there is no folder
      if (as === 'told') this.#tell(thrown);
      return undefined;
    }
  }

  /** Whether a file is there, since it is told why it cannot be read. */
  #isTold(name: string): boolean {
    return this.problems.some(({ file }) => file === name);
  }

  #warnOf(name: string): void {
    if (!this.#isTold(name)) this.#tell(notFound(this.#folder, name), 'warning');
  }

  #tell(error: ClearformerError, severity: Problem['severity'] = 'error'): void {
    this.problems.push(problemOf(error, severity));
  }
}

const processorFiles = ['preprocessor_config.json', 'processor_config.json'];
/** The files of a tokenizer; the first entry whose first file exists is used, with its other files. */
const tokenizers: readonly [TokenizerFiles['kind'], ...string[]][] = [
  ['tokenizer.json', 'tokenizer_config.json'],
  ['vocab.txt', 'tokenizer_config.json'],
  ['vocab.json', 'merges.txt', 'tokenizer_config.json'],
  ['sentencepiece'],
];
