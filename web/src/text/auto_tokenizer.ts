// AutoTokenizer: loads a tokenizer from the source of a model, with the same options.

import { ruled } from '../checkpoint/file_rules.js';
import { type ReadOptions, readOptional, readRequired, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { Progress, type ProgressCallback } from '../checkpoint/progress.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from '../checkpoint/source.js';
import { ClearformerError, isMissing } from '../support/error.js';
import { checkOptions, ownOptions } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { loadPart } from '../support/platform.js';
import { missingPart, type TokenizerJson } from './encoder.js';
import { padsLeft } from './settings.js';
import { classNameOf, familyOf, isOwnName, sentencePieces, type TokenizerConfig } from './special_tokens.js';
import { templateFile } from './template_names.js';
import { PreTrainedTokenizer } from './tokenizer.js';
import { useParts } from './unicode.js';

/** How a tokenizer is loaded: the options of a model that concern files. */
export interface TokenizerLoadOptions extends SourceOptions, ReadOptions {
  progress_callback?: ProgressCallback | undefined;
}

const knownOptions = [...sourceOptions, 'signal', 'integrity', 'progress_callback'];
const main = 'tokenizer.json';
const classesPart = () => loadPart(() => import('./tokenizer_classes.js'));
const mapPart = () => loadPart(() => import('./special_tokens_map.js'));
const templatePart = () => loadPart(() => import('./template_files.js'));
const otherFiles = () => loadPart(() => import('./other_files.js')); // rarely needed

/** All files of a folder that a tokenizer may be read from. */
export const tokenizerFiles: readonly string[] = [
  main,
  'tokenizer_config.json',
  'special_tokens_map.json',
  'config.json',
  'vocab.txt',
  'vocab.json',
  'merges.txt',
  'added_tokens.json',
  templateFile,
  ...sentencePieces,
];

/** Loads the tokenizer of a model. */
export const AutoTokenizer = {
  /**
   * Loads tokenizer.json, or without it vocab.txt (BERT, ESM) or vocab.json and merges.txt (GPT-2, RoBERTa, CLIP,
   * Whisper) with added_tokens.json; also tokenizer_config.json and its complements (special_tokens_map.json,
   * `model_type` of config.json, and, unless they come from a server, chat_template.jinja and the named ones
   * of additional_chat_templates, which come before tokenizer_config.json's). Rejects with `file_not_found`,
   * `network_error`, `malformed_config`, `integrity_mismatch`, `unsupported` for folders with files of
   * SentencePiece, tiktoken or tekken only and for those without a tokenizer whose model is not read, or the abort
   * signal's reason.
   */
  async from_pretrained(source: Source, given: OrNull<TokenizerLoadOptions> = {}): Promise<PreTrainedTokenizer> {
    const call = 'AutoTokenizer.from_pretrained';
    const options = await ownOptions<TokenizerLoadOptions>(call, given, (own) => checkOptions(call, own, knownOptions));
    options.signal?.throwIfAborted();
    return readTokenizer(openSource(source, options), options);
  },
};

/**
 * Reads a tokenizer from an open folder. `wantsTemplate`: with the template of chat_template.jinja, by default where its
 * absence is no failed request that a page's console shows. `change` changes tokenizer.json.
 */
export async function readTokenizer(
  folder: Folder,
  options: TokenizerLoadOptions,
  wantsTemplate = folder.list !== undefined,
  change?: (json: TokenizerJson, config: TokenizerConfig) => void,
): Promise<PreTrainedTokenizer> {
  const texts: TextFile[] = [];
  const [given, json] = await Promise.all([
    readOptional(folder, 'tokenizer_config.json', options),
    readRequired(folder, main, options).catch((thrown: unknown) => {
      if (isMissing(thrown)) return thrown;
      throw thrown;
    }),
  ]);
  const held = json instanceof ClearformerError ? undefined : parsed(json, texts);
  const config = await completed(parsed(given, texts), folder, options, texts, wantsTemplate);
  const tokenizerJson = held ?? (await (await otherFiles()).fromOtherFiles(folder, options, config, texts));
  if (!tokenizerJson) throw json;
  change?.(tokenizerJson, config);
  for (let part = missingPart(tokenizerJson, config); part; part = missingPart(tokenizerJson, config)) {
    if (part === 'tables') useParts({ tables: await loadPart(() => import('./on_demand.js')) });
    else useParts({ pieces: await loadPart(() => import('./sentence_pieces.js')) });
  }
  const tokenizer = made(tokenizerJson, config, held ? undefined : texts);
  if (/^(nllb|mbart|m2m)/.test(classNameOf(config))) {
    (await loadPart(() => import('./languages.js'))).placeLanguages(tokenizer, config);
  }
  if (classNameOf(config) === 'whisper')
    (await loadPart(() => import('./whisper_decoding.js'))).decodeSpeech(tokenizer, config);
  const sizes = new Map(texts.map((text) => [text.name, text.bytes]));
  new Progress(folder.where, sizes, options.progress_callback).whole();
  return tokenizer;
}

/** The object of a file, which is added to the `texts` read. */
function parsed(text: TextFile | undefined, texts: TextFile[]): TokenizerConfig {
  if (!text) return {};
  texts.push(text);
  return ruled(text);
}

/** Creates the tokenizer; errors in a vocabulary converted to the form of tokenizer.json name its own file. */
function made(json: object, config: TokenizerConfig, texts: readonly TextFile[] | undefined): PreTrainedTokenizer {
  try {
    return new PreTrainedTokenizer(json, config);
  } catch (thrown) {
    if (!texts || !(thrown instanceof ClearformerError) || thrown.details.file !== main) throw thrown;
    const own = /merges/.test(thrown.message) ? /^merges/ : /^vocab/;
    const file = texts.find(({ name }) => own.test(name))?.name ?? main;
    throw new ClearformerError(thrown.code, thrown.message.replace(main, file), { file }, thrown);
  }
}

/**
 * tokenizer_config.json completed from other files: the special tokens, the kind of model, which implies a class or makes
 * transformers ignore it, and the chat template.
 */
async function completed(
  config: TokenizerConfig,
  folder: Folder,
  options: TokenizerLoadOptions,
  texts: TextFile[],
  wantsTemplate: boolean,
): Promise<TokenizerConfig> {
  // transformers reads the map of folders without `added_tokens_decoder`, and since version 5, which names a backend,
  // writes none.
  const wantsMap = config.added_tokens_decoder === undefined && !config.backend;
  const { tokenizer_class, padding_side } = config;
  const wantsModel = !tokenizer_class || (!padding_side && padsLeft(config));
  const [map, model, templates] = await Promise.all([
    wantsMap ? readOptional(folder, 'special_tokens_map.json', options) : undefined,
    wantsModel ? readOptional(folder, 'config.json', options) : undefined,
    wantsTemplate ? templatePart().then((part) => part.readTemplates(folder, options, texts)) : undefined,
  ]);
  const { additional_special_tokens, extra_special_tokens = additional_special_tokens, ...others } = config;
  const plain = { ...others, extra_special_tokens, ...templates };
  const tokens = parsed(map, texts);
  const isWhole = Object.keys(tokens).some((key) => /^extra/.test(key) || isOwnName(key));
  const whole = isWhole ? (await mapPart()).withMap(plain, tokens) : { ...plain, ...tokens };
  if (!model) return whole;
  const { tokenizer_class: own, model_type } = parsed(model, texts);
  const named = tokenizer_class || own;
  const usual = { ...whole, tokenizer_class: named ?? model_type };
  if (!familyOf(usual)) usual.tokenizer_class = (await classesPart()).classFor(named, model_type);
  return usual;
}
