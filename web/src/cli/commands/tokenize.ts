// clearformer tokenize: a text as token ids, and back.

import { type Command, InvalidArgumentError } from 'commander';
import { AutoTokenizer, type PreTrainedTokenizer, type TokenizerCallOptions } from '../../index.js';
import type { Context } from '../context.js';
import { UsageError } from '../failures.js';
import { textsOf } from '../inputs.js';
import { positive } from '../option_values.js';
import { addFileOptions, loaded, type SharedOptions } from '../sources.js';
import { idList } from '../token_ids.js';

interface Options extends SharedOptions {
  decode?: true;
  skipSpecialTokens?: true;
  addSpecialTokens: boolean;
  textPair?: string;
  truncation?: true;
  maxLength?: number;
}

const after = `
Offsets are places in the text in UTF-16 code units, as JavaScript counts.

Examples:
  clearformer tokenize ./stories260K "Once upon a time"
  clearformer tokenize openai-community/gpt2 "Hello" --json
  clearformer tokenize ./stories260K --decode 1,403,407,261,378 --skip-special-tokens
  cat lines.txt | clearformer tokenize ./stories260K - --no-add-special-tokens`;

export function addTokenize(program: Command, context: Context): void {
  const command = program
    .command('tokenize')
    .summary('show the tokens of texts')
    .description('Each token of a text: its id, its spelling and where it stands. Needs no model, only its tokenizer.')
    .argument('<source>', "folder, Hub id or URL of a model's files")
    .argument('<texts...>', 'the texts, or with --decode lists of ids; - for the lines of standard input')
    .option('--decode', 'make text of ids')
    .option('--skip-special-tokens', 'leave tokens such as <s> out of that text')
    .option('--no-add-special-tokens', 'only the tokens of the text itself')
    .option('--text-pair <text>', 'the second text of a pair')
    .option('--truncation', "cut to --max-length, or to the model's own maximum")
    .option('--max-length <n>', 'tokens at most; needs --truncation', positive)
    .option('--json', 'print JSON: a list of { text, input_ids, tokens, offset_mapping }');
  addFileOptions(command).addHelpText('after', after);
  command.action((source: string, words: string[], options: Options) => tokenize(context, source, words, options));
}

async function tokenize(context: Context, source: string, words: readonly string[], options: Options): Promise<void> {
  check(options);
  const texts = await textsOf(words);
  const ids = options.decode ? texts.map(idsOf) : [];
  const tokenizer = await loaded(context, source, options, (from, load) => AutoTokenizer.from_pretrained(from, load));
  if (options.decode) decode(context, tokenizer, ids, options);
  else encode(context, tokenizer, texts, options);
}

function check({ decode, skipSpecialTokens, addSpecialTokens, textPair, truncation, maxLength }: Options): void {
  if (maxLength !== undefined && !truncation) throw new UsageError('--max-length needs --truncation');
  if (decode && (!addSpecialTokens || textPair !== undefined || truncation)) {
    throw new UsageError('--decode takes ids: the options for texts do not go with it');
  }
  if (skipSpecialTokens && !decode) throw new UsageError('--skip-special-tokens needs --decode');
}

function idsOf(word: string): number[] {
  try {
    return idList(word);
  } catch (thrown) {
    if (thrown instanceof InvalidArgumentError) throw new UsageError(`--decode: ${thrown.message}`);
    throw thrown;
  }
}

function decode(
  { output }: Context,
  tokenizer: PreTrainedTokenizer,
  rows: readonly (readonly number[])[],
  { skipSpecialTokens: skip_special_tokens, json }: Options,
): void {
  const texts = rows.map((input_ids) => ({ input_ids, text: tokenizer.decode(input_ids, { skip_special_tokens }) }));
  if (json) output.json(texts);
  else for (const { text } of texts) output.line(text);
}

function encode({ output }: Context, tokenizer: PreTrainedTokenizer, texts: readonly string[], options: Options): void {
  const { textPair: text_pair, addSpecialTokens: add_special_tokens, truncation, maxLength: max_length } = options;
  const settings = { text_pair, add_special_tokens, truncation, max_length, return_offsets_mapping: true };
  const results = texts.map((text) => tokensOf(tokenizer, text, settings));
  if (options.json) {
    output.json(results);
    return;
  }
  for (const { text, input_ids, tokens, offset_mapping } of results) {
    if (results.length > 1) output.line(`${JSON.stringify(text)}:`);
    const width = String(Math.max(0, ...input_ids)).length;
    input_ids.forEach((id, i) => {
      const [start, end] = offset_mapping[i] ?? [0, 0];
      output.line(`${String(id).padStart(width)}\t${start}-${end}\t${JSON.stringify(tokens[i])}`);
    });
  }
}

function tokensOf(tokenizer: PreTrainedTokenizer, text: string, settings: TokenizerCallOptions) {
  const made = tokenizer(text, { ...settings, return_tensor: false });
  const { input_ids, token_type_ids, offset_mapping = [] } = made;
  return { text, input_ids, tokens: made.tokens(), ...(token_type_ids && { token_type_ids }), offset_mapping };
}
