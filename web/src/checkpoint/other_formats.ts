// Detects weights in unsupported formats, to name them and what to load instead.

import { ClearformerError } from '../support/error.js';
import { indexName, readOptional, weightsName } from './files.js';
import type { Folder, SourceFile } from './folder.js';

/** Owners on the Hub whose repositories contain ONNX conversions of other checkpoints. */
const conversions = /(^|\/)(Xenova|onnx-community)\//;

interface Format {
  name: string;
  pattern: RegExp;
  /** Names to try if files cannot be listed. */
  usual: readonly string[];
  /** Files derived from a checkpoint, which contains more than they do. */
  derived: boolean;
}

const formats: readonly Format[] = [
  {
    name: 'ONNX',
    pattern: /\.(onnx|onnx_data)$/,
    usual: ['onnx/model.onnx', 'onnx/model_quantized.onnx', 'onnx/encoder_model.onnx', 'model.onnx'],
    derived: true,
  },
  { name: 'GGUF', pattern: /\.gguf$/, usual: ['model.gguf'], derived: true },
  { name: 'TensorFlow Lite', pattern: /\.tflite$/, usual: [], derived: true },
  { name: 'CTranslate2', pattern: /^model\.bin$/, usual: ['model.bin'], derived: true },
  {
    name: 'PyTorch',
    pattern: /^(?!model\.bin$).*\.(bin|pt|pth|ckpt|bin\.index\.json)$/,
    usual: ['pytorch_model.bin', 'pytorch_model.bin.index.json'],
    derived: false,
  },
  { name: 'TensorFlow', pattern: /\.h5$/, usual: ['tf_model.h5'], derived: false },
  { name: 'Flax', pattern: /\.msgpack$/, usual: ['flax_model.msgpack'], derived: false },
];

/** Which of these files hold weights in an unsupported format. */
export function inOtherFormats(names: readonly string[]): string[] {
  return names.filter((name) => formats.some((format) => holds(format, name)));
}

function holds({ pattern }: Format, name: string): boolean {
  return pattern.test(name) && !/^(training_args|optimizer|scheduler|adapter_model)\./.test(name);
}

/** The unsupported weights found in a folder. */
export interface OtherWeights {
  format: string;
  file: string;
  /** A sentence: what it is and what to load instead. */
  message: string;
}

/** The first weights in an unsupported format; formats from which a checkpoint can be saved take precedence. */
export async function findOtherWeights(folder: Folder, signal?: AbortSignal): Promise<OtherWeights | undefined> {
  const listed = (await folder.list?.()) ?? [];
  for (const format of [...formats].sort((a, b) => Number(a.derived) - Number(b.derived))) {
    const looked = format.usual.filter((name) => !listed.includes(name));
    const found = await Promise.all(looked.map((name) => folder.find(name, signal)));
    const names = [...listed, ...found.flatMap((file) => (file === undefined || file.html ? [] : [file.name]))];
    const file = names.find((name) => holds(format, name));
    if (file !== undefined)
      return { format: format.name, file, message: await messageOf(format, file, folder, signal) };
  }
  return undefined;
}

/** The error for such weights, if there are some. */
export async function unsupportedWeights(folder: Folder, signal?: AbortSignal): Promise<ClearformerError | undefined> {
  const found = await findOtherWeights(folder, signal);
  if (found === undefined) return undefined;
  return new ClearformerError('unsupported', found.message, { file: found.file, where: folder.where });
}

/** The error for a folder without weights, with the names of safetensors files that are not read, or for a page in their place. */
export async function missingWeights(folder: Folder, page?: SourceFile): Promise<ClearformerError> {
  const { where } = page ?? folder;
  if (page) {
    const message = `${weightsName} is an HTML page (${where}): the server answers with a page where it has no such file`;
    return new ClearformerError('malformed_file', message, { file: weightsName, where });
  }
  const named = ((await folder.list?.()) ?? []).filter((name) => /^[^/]*(?<!-\d{5}-of-\d{5})\.safetensors$/.test(name));
  const hint = named.length === 0 ? '' : `; the weights may be in ${named.slice(0, 3).join(', ')}: rename it`;
  const message = `neither ${weightsName} nor ${indexName} is in ${where}${hint}`;
  return new ClearformerError('file_not_found', message, { file: weightsName, where });
}

async function messageOf(format: Format, file: string, folder: Folder, signal?: AbortSignal): Promise<string> {
  const what = `${file} in ${folder.where} is ${format.name} and is not read, only safetensors`;
  if (!format.derived) return `${what}: save the model with transformers' save_pretrained`;
  const original = await originalOf(folder, signal);
  const why = conversions.test(folder.where)
    ? ' (the repositories of this name hold conversions for transformers.js)'
    : '';
  return `${what}${why}: load the checkpoint it was made from, ${original ?? 'the base model that its page names'}`;
}

/** The Hub id of the checkpoint that a conversion was made from, according to its config.json. */
async function originalOf(folder: Folder, signal?: AbortSignal): Promise<string | undefined> {
  const config = await readOptional(folder, 'config.json', { signal }).catch(() => undefined);
  const name: unknown = config === undefined ? undefined : JSON.parse(config.text)._name_or_path;
  const isHubId = typeof name === 'string' && /^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(name);
  return isHubId && !conversions.test(name) && !folder.where.includes(name) ? name : undefined;
}
