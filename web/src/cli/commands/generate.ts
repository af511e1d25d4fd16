// clearformer generate: continues a text.

import type { Command } from 'commander';
import {
  AutoTokenizer,
  type GenerativeModel,
  type PreTrainedTokenizer,
  type Tensor,
  type TokenizerOutput,
} from '../../index.js';
import type { Context } from '../context.js';
import { UsageError } from '../failures.js';
import { addGenerationOptions, generationOptions } from '../generation_flags.js';
import { loadGenerative, streams, textStreamer } from '../generative.js';
import { textOf } from '../inputs.js';
import { addGenerativeOptions, loaded, type SharedOptions } from '../sources.js';
import { idList, idTensor } from '../token_ids.js';

interface Options extends SharedOptions {
  inputIds?: number[];
  skipPrompt?: true;
}

const examples = `
Examples:
  clearformer generate ./stories260K "Once upon a time" --max-new-tokens 60
  clearformer generate ./stories260K "Once upon a time" --do-sample --temperature 0.8 --top-k 40 --seed 7
  clearformer generate org/t5-model "translate English to German: Good morning." --num-beams 4 --json
  echo "Once upon a time" | clearformer generate ./stories260K - --stop-strings "." --skip-prompt
  clearformer generate ./stories260K --input-ids 1,403,407 --max-new-tokens 5`;

export function addGenerate(program: Command, context: Context): void {
  const command = program
    .command('generate')
    .summary('continue a text')
    .description('Continues a text token by token; of an encoder-decoder, writes what it makes of the text.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('[text]', 'the text; - for standard input')
    .option('--input-ids <ids>', 'token ids instead of a text, such as 1,403,407; ids are printed', idList)
    .option('--skip-prompt', 'print only what is new')
    .option('--json', 'print { texts, sequences } as JSON');
  addGenerationOptions(addGenerativeOptions(command)).addHelpText('after', examples);
  command.action((source: string, text: string | undefined, options: Options) =>
    generate(context, source, text, options),
  );
}

async function generate(context: Context, source: string, word: string | undefined, options: Options): Promise<void> {
  if ((word === undefined) === (options.inputIds === undefined)) {
    throw new UsageError('generate needs a text or --input-ids, and not both');
  }
  const text = word === undefined ? undefined : await textOf(word);
  const model = await loaded(context, source, options, loadGenerative);
  try {
    const tokenizer =
      text === undefined
        ? undefined
        : await loaded(context, source, options, (from, { revision, signal }) =>
            AutoTokenizer.from_pretrained(from, { revision, signal }),
          );
    await new Run(context, model, tokenizer, options).from(text);
  } finally {
    await model.dispose();
  }
}

class Run {
  readonly #asked;

  constructor(
    private readonly context: Context,
    private readonly model: GenerativeModel,
    private readonly tokenizer: PreTrainedTokenizer | undefined,
    private readonly options: Options,
  ) {
    this.#asked = { ...generationOptions(options as Record<string, unknown>), signal: context.signal };
  }

  async from(text: string | undefined): Promise<void> {
    const { output } = this.context;
    const inputs = this.#inputs(text);
    if (!this.options.json && this.tokenizer !== undefined && streams(this.model, this.#asked)) {
      const streamer = textStreamer(this.tokenizer, output, this.#leavesPromptOut);
      await this.model.generate(inputs, { ...this.#asked, tokenizer: this.tokenizer, streamer });
      output.line('');
      return;
    }
    const settings = { ...this.#asked, ...(this.tokenizer && { tokenizer: this.tokenizer }) };
    const made = await this.model.generate(inputs, { ...settings, return_dict_in_generate: true, use_cache: false });
    const rows = this.#rows(made.sequences, inputs.input_ids?.dims[1] ?? 1);
    const texts = rows.map((ids) => this.tokenizer?.decode(ids, { skip_special_tokens: true }) ?? ids.join());
    if (!this.options.json) {
      for (const one of texts) output.line(one);
      return;
    }
    const scores = made.sequences_scores && { sequences_scores: Array.from(made.sequences_scores.data) };
    output.json({ ...(this.tokenizer && { texts }), sequences: rows, ...scores });
  }

  #inputs(text: string | undefined): Partial<Pick<TokenizerOutput, 'input_ids' | 'attention_mask'>> {
    if (this.tokenizer === undefined || text === undefined) return { input_ids: idTensor(this.options.inputIds ?? []) };
    const { input_ids, attention_mask } = this.tokenizer([text]);
    return input_ids.dims[1] === 0 ? {} : { input_ids, attention_mask }; // of no tokens generate() makes the first
  }

  get #isEncoderDecoder(): boolean {
    return this.model.config.is_encoder_decoder === true;
  }
  /** Whether the prompt is left out: a decoder's start tokens after an encoder are not part of the text. */
  get #leavesPromptOut(): boolean {
    return this.options.skipPrompt === true || this.#isEncoderDecoder;
  }

  /** The ids of each sequence, without trailing padding. */
  #rows(sequences: Tensor<'int64'>, prompt: number): number[][] {
    const own = this.model.generation_config.eos_token_id;
    const ends = new Set([this.#asked.eos_token_id === undefined ? own : this.#asked.eos_token_id].flat());
    const begins = this.#isEncoderDecoder ? 1 : prompt;
    return Array.from({ length: sequences.dims[0] ?? 0 }, (_, row) => {
      const ids = Array.from(sequences.slice(row).data, Number);
      const end = ids.findIndex((id, i) => i >= begins && ends.has(id));
      return ids.slice(this.options.skipPrompt ? begins : 0, end < 0 ? undefined : end + 1);
    });
  }
}
