// clearformer translate: translates texts.

import { type Command, InvalidArgumentError } from 'commander';
import { type PipelineTask, pipeline, type TranslationPipeline } from '../../index.js';
import type { Context } from '../context.js';
import { addGenerationOptions, generationOptions } from '../generation_flags.js';
import { streams, textStreamer } from '../generative.js';
import { textsOf } from '../inputs.js';
import { addGenerativeOptions, loaded, type SharedOptions } from '../sources.js';

type Task = Extract<PipelineTask, 'translation' | `translation_${string}`>;

interface Options extends SharedOptions {
  task: Task;
  srcLang?: string;
  tgtLang?: string;
}

const examples = `
Examples:
  clearformer translate ./marian-tiny-en-fr "I want to live in a big city."
  clearformer translate Helsinki-NLP/opus-mt-en-de "Good morning." "Good night." --num-beams 4 --json
  clearformer translate google-t5/t5-small "Good morning." --task translation_en_to_de
  clearformer translate facebook/nllb-200-distilled-600M "Good morning." --src-lang eng_Latn --tgt-lang fra_Latn
  clearformer translate ./marian-tiny-en-fr - < lines.txt`;

export function addTranslate(program: Command, context: Context): void {
  const command = program
    .command('translate')
    .summary('translate texts')
    .description('Translates each text, with an encoder-decoder such as Marian, T5 or NLLB; a line for each.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('<texts...>', 'the texts; - for the lines of standard input')
    .option(
      '--task <name>',
      'for models of several pairs of languages, such as translation_en_to_de; others have one whatever the name says',
      taskOf,
      'translation',
    )
    .option('--src-lang <name>', 'language of the texts, by the name that the model has for it (NLLB, mBART, M2M100)')
    .option('--tgt-lang <name>', 'language of the translations (also of opus-mt models with several targets)')
    .option('--json', 'print a list of { text, translation_text } as JSON');
  addGenerationOptions(addGenerativeOptions(command)).addHelpText('after', examples);
  command.action((source: string, words: string[], options: Options) => translate(context, source, words, options));
}

function taskOf(word: string): Task {
  if (word === 'translation' || /^translation_\w+_to_\w+$/.test(word)) return word as Task;
  throw new InvalidArgumentError('It must be translation or translation_XX_to_YY.');
}

async function translate(context: Context, source: string, words: readonly string[], options: Options): Promise<void> {
  const texts = await textsOf(words);
  const translator = await loaded(context, source, options, (from, load) => pipeline(options.task, from, load));
  const all: { text: string; translation_text: string }[] = [];
  try {
    for (const text of texts) {
      const made = await translated(context, translator, text, options);
      all.push(...made.map((translation_text) => ({ text, translation_text })));
    }
  } finally {
    if (options.json && all.length > 0) context.output.json(all); // also what precedes a text that fails
    await translator.dispose();
  }
}

/** Streams the translation if possible and wanted. */
async function translated(
  { output, signal }: Context,
  translator: TranslationPipeline,
  text: string,
  options: Options,
): Promise<string[]> {
  const languages = { src_lang: options.srcLang, tgt_lang: options.tgtLang };
  const given = { ...generationOptions(options as unknown as Record<string, unknown>), ...languages };
  const shows = options.json === undefined && streams(translator.model, { ...translator.settings(given), ...given });
  const streamer = shows ? { streamer: textStreamer(translator.tokenizer, output, true) } : {};
  const made = (await translator(text, { ...given, ...streamer, signal })).map((one) => one.translation_text);
  if (shows) output.line('');
  else if (options.json === undefined) for (const one of made) output.line(one);
  return made;
}
