// Extends an inspection by what only whole files show: non-finite weights, and whether the files besides
// the model can be read and fit it.

import type { RunningDigest } from '../checkpoint/digest.js';
import { digests } from '../checkpoint/digest_part.js';
import { readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { resizedTo } from '../image/geometry.js';
import { type ImageSteps, imageSteps } from '../image/image_processor_config.js';
import { type InspectedFile, inspectFolder, isValid, problemOf } from '../inspection/inspect_folder.js';
import type { Inspection, InspectOptions, Problem } from '../inspection/inspection.js';
import { notFinite } from '../inspection/not_finite.js';
import { ClearformerError } from '../support/error.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import { specialNames } from '../text/special_tokens.js';
import { fileProblems, joinedProblems } from './file_problems.js';
import { channelsOf } from './images.js';

/** @internal Validates an open folder. */
export async function validateFolder(
  folder: Folder,
  { task, signal }: Pick<InspectOptions, 'task' | 'signal'>,
): Promise<Inspection> {
  const { inspection, weights, tied } = await inspectFolder(folder, { task, signal });
  let problems = [...inspection.problems];
  const tables: Tables = new Map();
  for (const name of tied) tables.set(name, await (await digests()).runningSha256());
  for (const file of weights) problems.push(...(await weightProblems(file, inspection, tables, signal)));
  problems.push(...tableProblems(tables, inspection));
  for (const check of checks) {
    problems = joinedProblems(problems, await problemsOf(() => check(folder, inspection, signal)));
  }
  return { ...inspection, valid: isValid(problems), problems };
}

/** Running checksums of the embedding tables that must be equal, by name. */
type Tables = Map<string, RunningDigest>;

/** Checks the weights of a file with a valid header; other files are reported already. */
async function weightProblems(
  { file, bytes, start }: InspectedFile,
  { tensors, unexpected_tensors }: Inspection,
  tables: Tables,
  signal: AbortSignal | undefined,
): Promise<Problem[]> {
  const { name } = file;
  if (!tensors.some((tensor) => tensor.file === name)) return [];
  return problemsOf(async () => {
    const { counts, length } = await notFinite(file.chunks(signal), start, tables);
    const found = [...counts].map(([tensor, count]) => {
      const severity = unexpected_tensors.includes(tensor) ? 'warning' : 'error'; // a mask of -inf, in older files
      return fault('malformed_file', name, `tensor "${tensor}" has ${count} values that are NaN or infinite`, severity);
    });
    if (length < bytes) {
      found.push(fault('malformed_file', name, `the file ends early, after ${length} of ${bytes} bytes`));
      tables.clear();
    }
    if (length > bytes) found.push(fault('malformed_file', name, 'bytes follow its last tensor'));
    return found;
  });
}

/** The tables that differ from the first one, if they are of its dtype. */
function tableProblems(tables: Tables, { tensors }: Inspection): Problem[] {
  const dtypes = new Map(tensors.map(({ name, dtype }) => [name, dtype]));
  const [first, ...others] = [...tables].map(([name, digest]) => ({
    name,
    dtype: dtypes.get(name),
    sum: digest.hex(),
  }));
  return others
    .filter(({ dtype, sum }) => dtype === first?.dtype && sum !== first?.sum)
    .map(({ name }) => {
      const message = `weights: "${name}" differs from "${first?.name}", which the config ties it to`;
      return { code: 'unsupported', severity: 'error', message };
    });
}

type Check = (folder: Folder, inspection: Inspection, signal: AbortSignal | undefined) => Promise<Problem[]>;

const checkTokenizer: Check = async (folder, { tokenizer, cfg }, signal) => {
  if (tokenizer === null || tokenizer.kind === 'sentencepiece') return [];
  const read = await readTokenizer(folder, { signal });
  if (cfg === null || cfg.d_vocab === 0 || read.largest_id < cfg.d_vocab) return [];
  // Special tokens that neither texts without them nor padding contain, as the image token of Gemma 3's text models
  const rare = new Set(read.all_special_ids);
  for (const id of [...specialNames.map((name) => read[`${name}_id`]), ...read.encode('')]) rare.delete(id as number);
  let common = read.largest_id;
  while (common >= cfg.d_vocab && (!read.has_id(common) || rare.has(common))) common--;
  const [id, severity] = common < cfg.d_vocab ? ([read.largest_id, 'warning'] as const) : ([common, 'error'] as const);
  const token = read.convert_ids_to_tokens(id);
  const what = `token ${id} ("${token}") is beyond the model's vocabulary of ${cfg.d_vocab}`;
  return [fault('malformed_config', tokenizer.kind, what, severity)];
};

const checkProcessor: Check = async (folder, { processor, input_modalities, cfg }, signal) => {
  if (processor.length === 0) return [];
  const file = processor.at(-1) as string;
  const config = JSON.parse((await readOptional(folder, 'config.json', { signal }))?.text ?? '{}');
  if (input_modalities.includes('audio')) {
    const { readFeatureExtractor } = await import('../audio/auto_feature_extractor.js');
    const { features } = await readFeatureExtractor(folder, { signal });
    const { num_mel_bins: bins, max_length: frames } = config;
    const read: [string, number, unknown, string][] = []; // of samples: nothing
    if ('feature_size' in features) read.push(['feature_size', features.feature_size, bins ?? 80, 'mel bins']);
    if ('num_mel_bins' in features) {
      read.push(['num_mel_bins', features.num_mel_bins, bins ?? 128, 'mel bins']);
      read.push(['max_length', features.max_length, frames ?? 1024, 'frames']);
    }
    return read
      .filter(([, made, wanted]) => cfg !== null && made !== wanted)
      .map(([key, made, wanted, what]) =>
        fault('malformed_config', file, `${key} is ${made}, and the model reads ${wanted} ${what}`),
      );
  }
  if (!input_modalities.includes('image')) return [];
  const read = await (await import('../image/image_processor.js')).readImageProcessor(folder, { signal });
  if (cfg === null) return [];
  const steps = imageSteps(read.image_processor_type, read.config, 'malformed_config', 'image processor');
  const channels = channelsOf(config);
  const told: string[] = [];
  for (const [key, values] of Object.entries(steps.normalize ?? {})) {
    if (typeof values === 'number' || values.length === channels) continue;
    told.push(`image_${key} has a number for each of ${values.length} channels, and the model reads ${channels}`);
  }
  const [height = 224, width = height] = [(config.vision_config ?? config).image_size ?? []].flat() as number[];
  const [rows, columns] = sizeOf(steps, height, width);
  // Those of DINOv2 and DINOv3 may have any size.
  if ((rows !== height || columns !== width) && !cfg.model_type.startsWith('dino'))
    told.push(`images become ${rows} x ${columns} pixels, and the model was made for ${height} x ${width}`);
  return told.map((what) => fault('malformed_config', file, what));
};

/** The height and width that an image gets. */
function sizeOf({ crop, resize }: ImageSteps, height: number, width: number): [number, number] {
  const [rows, columns] = resize === undefined ? [height, width] : resizedTo(resize.size, height, width);
  return [crop?.height ?? rows, crop?.width ?? columns];
}

const checkSpeech: Check = async (folder, { cfg }, signal) => {
  if (cfg?.model_type !== 'whisper') return [];
  const { brokenHeadRules, brokenSpeechRules } = await import('../models/whisper_rules.js');
  const settings = JSON.parse((await readOptional(folder, 'generation_config.json', { signal }))?.text ?? '{}');
  return [
    ...brokenSpeechRules(settings, cfg).map((error) => problemOf(error, 'error')),
    ...brokenHeadRules(settings, cfg).map((error) => problemOf(error, 'warning')), // only words need them
  ];
};

const checkModules: Check = async (folder, _, signal) => {
  await (await import('./sentence_transformers.js')).readEmbeddingDefaults(folder, { signal });
  return [];
};

const checkFiles: Check = async (folder, { cfg }, signal) =>
  (await fileProblems(folder, cfg?.d_model, signal)).map((error) => problemOf(error, 'error'));

const checks: readonly Check[] = [checkTokenizer, checkProcessor, checkSpeech, checkModules, checkFiles];

function fault(code: Problem['code'], file: string, what: string, severity: Problem['severity'] = 'error'): Problem {
  return { code, severity, message: `${file}: ${what}`, file };
}

/** The problems that `check` finds, or the one that ends it; an unreadable source is thrown to the caller. */
async function problemsOf(check: () => Promise<Problem[]>): Promise<Problem[]> {
  try {
    return await check();
  } catch (thrown) {
    if (!(thrown instanceof ClearformerError) || thrown.code === 'network_error') throw thrown;
    return [problemOf(thrown, 'error')];
  }
}
