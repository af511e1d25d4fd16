// Violations of the rules of a folder's JSON files, and inconsistencies between them: `validate` reports them in
// addition to what prevents a tokenizer, a processor or an embedding from being created.

import { brokenRules, brokenTokenizerRules } from '../checkpoint/file_rules.js';
import { readOptional, readPlain } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import type { Problem } from '../inspection/inspection.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { readTemplateFiles } from '../text/template_files.js';
import { labelOf, namesOf } from './scores.js';
import { brokenSentenceRules } from './sentence_rules.js';
import { modulesFile, promptFile, promptProblems, readTransformerSettings } from './sentence_transformers.js';

type Values = Readonly<Record<string, unknown>>;

/** Problems of the JSON files besides the model, with `d_model` the model's width if known. */
export async function fileProblems(
  folder: Folder,
  d_model: number | undefined,
  signal: AbortSignal | undefined,
): Promise<ClearformerError[]> {
  const read = async (name: string): Promise<Values | undefined> => {
    const file = await readOptional(folder, name, { signal });
    return file && JSON.parse(file.text);
  };
  const found: ClearformerError[] = [];
  /** A file that is not a JSON object is a problem as well. */
  const attempt = async (work: () => Promise<ClearformerError[]>) => {
    try {
      found.push(...(await work()));
    } catch (thrown) {
      if (!(thrown instanceof ClearformerError) || thrown.code === 'network_error') throw thrown;
      found.push(thrown);
    }
  };
  const small = ['special_tokens_map.json', 'added_tokens.json'];
  for (const name of small) await attempt(async () => brokenRules(name, (await read(name)) ?? {}));
  await attempt(async () => {
    const [json, config] = [await read('tokenizer.json'), await read('tokenizer_config.json')];
    const vocabulary = json === undefined ? await read('vocab.json') : undefined;
    return [...brokenTokenizerRules(json ?? {}, config ?? {}), ...brokenRules('vocab.json', vocabulary ?? {})];
  });
  await attempt(async () => labelProblems((await read('config.json')) ?? {}));
  await attempt(async () => promptProblems((await read(promptFile)) ?? {}));
  for (const { kind, path } of await modules(folder, signal, attempt)) {
    await attempt(async () => {
      if (kind === 'Transformer') return (await readTransformerSettings(folder, path, { signal })).broken;
      const name = `${path}config.json`;
      if (kind === 'Dense') return brokenSentenceRules('Dense/config.json', (await read(name)) ?? {}, name);
      return poolingProblems((await read(name)) ?? {}, name, d_model);
    });
  }
  await attempt(() => templateProblems(folder, signal));
  return found;
}

/** The steps of modules.json that have a settings file. */
async function modules(
  folder: Folder,
  signal: AbortSignal | undefined,
  attempt: (work: () => Promise<ClearformerError[]>) => Promise<void>,
): Promise<{ kind: string; path: string }[]> {
  const steps: { kind: string; path: string }[] = [];
  await attempt(async () => {
    const text = (await readPlain(folder, modulesFile, { signal }))?.text;
    let held: unknown;
    try {
      held = JSON.parse(text ?? '[]');
    } catch {
      return []; // reported by its reader
    }
    if (!Array.isArray(held)) return [];
    const broken = brokenSentenceRules(modulesFile, held as unknown as Values);
    for (const { type, path } of broken.length > 0 ? [] : held) {
      const kind = type.split('.').at(-1);
      if (['Transformer', 'Pooling', 'Dense'].includes(kind)) steps.push({ kind, path: path ? `${path}/` : '' });
    }
    return broken;
  });
  return steps;
}

/** Names of classes that no pipeline can give. */
function labelProblems(config: Values): ClearformerError[] {
  if (!isObject(config.id2label)) return []; // the core tells what is none
  return Object.keys(namesOf(config).id2label).flatMap((id) => {
    try {
      labelOf(config, Number(id));
      return [];
    } catch (thrown) {
      return [thrown as ClearformerError];
    }
  });
}

function poolingProblems(values: Values, name: string, d_model: number | undefined): ClearformerError[] {
  const broken = brokenSentenceRules('Pooling/config.json', values, name);
  const width = values.word_embedding_dimension ?? values.embedding_dimension ?? d_model;
  if (broken.length > 0 || d_model === undefined || width === d_model) return broken;
  return [refusal(name, `word_embedding_dimension is ${textOf(width)}, and the model has ${d_model} dimensions`)];
}

/** Invalid templates. */
async function templateProblems(folder: Folder, signal: AbortSignal | undefined): Promise<ClearformerError[]> {
  const files = await readTemplateFiles(folder, { signal });
  const config = await readOptional(folder, 'tokenizer_config.json', { signal });
  const held: unknown = config && JSON.parse(config.text).chat_template;
  const own = Array.isArray(held) ? held.map((one) => one?.template) : [held];
  const templates = [
    ...own.map((text) => ['tokenizer_config.json', 'chat_template: ', text] as const),
    ...files.map(({ name, text }) => [name, '', text] as const),
  ];
  const found: ClearformerError[] = [];
  for (const [file, key, text] of templates) {
    if (typeof text !== 'string') continue;
    const { boundedTemplate } = await import('../text/bounded_template.js');
    try {
      boundedTemplate(text);
    } catch (cause) {
      found.push(refusal(file, `${key}it is no template: ${messageOf(cause)}`));
    }
  }
  return found;
}

function refusal(file: string, why: string): ClearformerError {
  return new ClearformerError('malformed_config', `${file}: ${why}`, { file });
}

/** `problems` with those of `more` that are not among them. */
export function joinedProblems(problems: readonly Problem[], more: readonly Problem[]): Problem[] {
  return [...problems, ...more.filter(({ message }) => !problems.some((other) => other.message === message))];
}
