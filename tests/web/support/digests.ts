// Hashes of model outputs, which must be the same on every engine and machine and with any number of threads:
// tests/fixtures/digests.json, by model, dtype and output. DIGESTS=write regenerates it.

import { readFileSync } from 'node:fs';

/** A model, and how it is loaded. */
export interface Subject {
  /** Its folder in the project. */
  folder: string;
  /** Its class. */
  auto: string;
  dtype: 'fp32' | 'q8' | 'q4';
  numThreads: number;
}

const bundled = {
  stories260K: 'AutoModelForCausalLM',
  'gpt-nano-sort': 'AutoModelForCausalLM',
  'bert-tiny-fill': 'AutoModelForMaskedLM',
  'marian-tiny-en-fr': 'AutoModelForSeq2SeqLM',
  'vit-mnist': 'AutoModelForImageClassification',
};
const ofArchitectures = {
  AutoModel: [
    ...['bert', 'roberta', 'distilbert', 'modernbert', 'vit', 'deit', 'electra', 'albert', 'mpnet', 'deberta_v2'],
    ...['dinov2', 'dinov2_with_registers'],
  ],
  AutoModelForCausalLM: [
    ...['gpt2', 'gpt_neo', 'mistral', 'qwen2', 'qwen3', 'phi', 'phi3', 'gemma', 'gemma2', 'gemma3_text', 'olmo'],
    ...['olmo2', 'olmo3', 'smollm3', 'granite', 'starcoder2', 'opt', 'openai_gpt', 'gpt_neox', 'gptj', 'codegen'],
    ...[
      'bloom',
      'falcon',
      'mpt',
      'stablelm',
      'cohere',
      'cohere2',
      'lfm2',
      'granitemoe',
      'olmoe',
      'qwen3_moe',
      'mixtral',
      'qwen3_5_text',
    ],
  ],
  AutoModelForSeq2SeqLM: ['nn_transformer', 'marian', 'bart', 't5', 'mt5', 'mbart', 'm2m_100', 'pegasus'],
  AutoModelForSpeechSeq2Seq: ['whisper'],
  AutoModelForZeroShotImageClassification: ['clip', 'siglip'],
};

/** The bundled models in three dtypes, and one model of each architecture. */
export const subjects: readonly Omit<Subject, 'numThreads'>[] = [
  ...Object.entries(bundled).flatMap(([name, auto]) =>
    (['fp32', 'q8', 'q4'] as const).map((dtype) => ({ folder: `web/demo/public/models/${name}`, auto, dtype })),
  ),
  ...Object.entries(ofArchitectures).flatMap(([auto, names]) =>
    names.map((name) => {
      const checkpoint = auto === 'AutoModel' ? 'even_base' : 'even';
      return { folder: `tests/fixtures/models/${name}/${checkpoint}`, auto, dtype: 'fp32' as const };
    }),
  ),
  { folder: 'tests/fixtures/llama_tiny/odd', auto: 'AutoModelForCausalLM', dtype: 'fp32' },
];

/** Models large enough for parallel loops. */
export const shared: readonly Subject[] = [2, 4].flatMap((numThreads) =>
  subjects
    .filter(({ folder, dtype }) => folder.startsWith('web/') && dtype !== 'q4')
    .map((subject) => ({ ...subject, numThreads })),
);
export const alone: readonly Subject[] = subjects.map((subject) => ({ ...subject, numThreads: 1 }));

/** SHA-256 of the bytes of each output, by model and dtype. */
export type Digests = Record<string, Record<string, string>>;

export const digestsFile = new URL('../../fixtures/digests.json', import.meta.url);
export const recorded = (): Digests => JSON.parse(readFileSync(digestsFile, 'utf8'));

/** The recorded hashes of these models. */
export function recordedOf(wanted: readonly Subject[]): Digests {
  const all = recorded();
  return Object.fromEntries(wanted.map(({ folder, dtype }) => [`${folder} ${dtype}`, all[`${folder} ${dtype}`] ?? {}]));
}

/** Hashes of the subjects' outputs, with the package at `entry` and the project at `root`. Also runs in pages. */
export async function digestsOf([entry, root, wanted]: [string, string, readonly Subject[]]): Promise<Digests> {
  const library = await import(entry);
  type Config = Record<string, number & Record<string, number>>;
  const integers = (count: number, below: number) => ({ length: count, of: (i: number) => (i * 37 + 5) % below });
  const filled = (dims: number[], of: (i: number) => number) => ({
    data: Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => of(i)),
    dims,
  });
  const inputsOf = (cfg: { d_vocab: number; n_ctx: number }, config: Config, big: boolean) => {
    const [rows, length] = big ? [4, Math.min(cfg.n_ctx || 32, 32)] : [2, 6];
    const vision = (config.vision_config ?? config) as Config;
    const below = (config.text_config?.vocab_size as number | undefined) ?? cfg.d_vocab;
    const { of } = integers(rows * length, below);
    const ids = Array.from({ length: rows }, (_, row) => Array.from({ length }, (_, i) => of(row * length + i)));
    const size = vision.image_size as number | undefined;
    const mels = config.num_mel_bins as number | undefined;
    // Quotients are exact on every engine, sines need not be.
    const noise = (i: number) => ((i * 7919) % 1021) / 511 - 1;
    const seq2seq = config.is_encoder_decoder as unknown as boolean | undefined;
    if (mels) {
      const frames = 2 * (config.max_source_positions as number);
      return { input_features: filled([2, mels, frames], noise), decoder_input_ids: ids };
    }
    const pixels = size && { pixel_values: filled([2, (vision.num_channels as number) ?? 3, size, size], noise) };
    return { ...(below > 0 && { input_ids: ids }), ...pixels, ...(seq2seq && { decoder_input_ids: ids }) };
  };
  const found: Digests = {};
  for (const { folder, auto, dtype, numThreads } of wanted) {
    const model = await library[auto].from_pretrained(`${root}${folder}`, { dtype, numThreads, deterministic: true });
    if (model.info().threads.used !== numThreads) throw new Error(model.info().threads.reason);
    const outputs = await model(inputsOf(model.cfg, model.config, folder.startsWith('web/')));
    const digests: Record<string, string> = {};
    for (const [name, tensor] of Object.entries(outputs as Record<string, { data?: Float32Array<ArrayBuffer> }>)) {
      if (!(tensor?.data instanceof Float32Array)) continue;
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', tensor.data));
      digests[name] = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    }
    found[`${folder} ${dtype}`] = digests;
    await model.dispose();
  }
  return found;
}

/** The model that `trainingDigest` trains. */
const trained = 'tests/fixtures/models/gpt2/even';

/** The recorded hash of its weights after training. */
export const recordedTraining = (): string | undefined => recorded()[`${trained} trained`]?.weights;

/** That hash as an entry of the file. */
export const asTraining = (weights: string): Digests => ({ [`${trained} trained`]: { weights } });

/** The SHA-256 of all weights after 200 steps of AdamW with clipped gradients. Also runs in pages. */
export async function trainingDigest([entry, folder, numThreads]: [string, string, number]): Promise<string> {
  const { AdamW, AutoModelForCausalLM, clip_grad_norm_ } = (await import(entry)) as typeof import('clearformer');
  const model = await AutoModelForCausalLM.from_pretrained(folder, { numThreads, deterministic: true });
  if (model.info().threads.used !== numThreads) throw new Error(model.info().threads.reason);
  const optimizer = new AdamW(model, { lr: 3e-3, num_warmup_steps: 10 });
  const { d_vocab } = model.cfg;
  for (let step = 0; step < 200; step++) {
    const input_ids = Array.from({ length: 6 }, (_, row) =>
      Array.from({ length: 16 }, (_, at) => (step * 131 + row * 37 + at * (row + 5)) % d_vocab),
    );
    await optimizer.backward({ input_ids, labels: input_ids });
    await clip_grad_norm_(optimizer, 1);
    await optimizer.step();
  }
  const parameters = await model.named_parameters();
  const weights: number[][] = [];
  for (const { name } of parameters) weights.push(Array.from((await model.parameter(name)).data, Number));
  await optimizer.dispose();
  await model.dispose();
  const all = Float32Array.from(weights.flat());
  if (!all.every(Number.isFinite)) throw new Error('not finite');
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', all));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The arguments of `trainingDigest` for the package at `entry` and the project at `root`. */
export const trainingWith = (entry: string, root: string, numThreads: number): [string, string, number] => [
  entry,
  `${root}${trained}`,
  numThreads,
];
