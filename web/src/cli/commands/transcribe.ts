// clearformer transcribe: speech to text.

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type AudioInput,
  ClearformerError,
  pipeline,
  type RecognizedSpeech,
  type SpeechChunk,
  type SpeechRecognitionOptions,
} from '../../index.js';
import type { Context } from '../context.js';
import { codeOf, exitCodes, Reported } from '../failures.js';
import { addGenerationOptions, generationOptions } from '../generation_flags.js';
import { fileOf } from '../image_files.js';
import { checkInputs, standardInput } from '../inputs.js';
import { notNegative } from '../option_values.js';
import { addGenerativeOptions, loaded, type SharedOptions } from '../sources.js';

interface Options extends SharedOptions {
  language?: string;
  task?: 'transcribe' | 'translate';
  chunkLengthS?: number;
  strideLengthS?: number | [number, number];
  returnTimestamps?: boolean | 'true' | 'word';
}

const after = `
Sounds are WAV files: PCM of 8, 16, 24 or 32 bits, float32, float64, A-law or µ-law, any number of channels, any rate.
For a Whisper sounds beyond 30 seconds need --chunk-length-s or --return-timestamps, which prints start and end in seconds
before each segment or word; wav2vec 2.0 and HuBERT take --chunk-length-s and --stride-length-s alone. A file that fails is
told, and the others are written down; the exit code then is 1.

Examples:
  clearformer transcribe ./whisper-tiny speech.wav
  clearformer transcribe ./whisper-tiny speech.wav --return-timestamps word
  clearformer transcribe openai/whisper-tiny lecture.wav --chunk-length-s 30 --language german --task translate
  ffmpeg -i talk.mp3 -f wav - | clearformer transcribe ./whisper-tiny - --json`;

export function addTranscribe(program: Command, context: Context): void {
  const task = new Option('--task <name>', 'transcribe, or translate to English (default: transcribe)');
  const command = program
    .command('transcribe')
    .summary('write down speech')
    .description('The text of each sound, with Whisper, wav2vec 2.0 or HuBERT.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('<files...>', 'paths or URLs of WAV files; - for standard input')
    .option('--language <name>', 'english, en, … (default: the model hears which)')
    .addOption(task.choices(['transcribe', 'translate']))
    .option('--chunk-length-s <seconds>', 'cut longer sounds into parts of so many seconds', notNegative)
    .option('--stride-length-s <seconds>', 'what parts share on both sides, or left,right (default: a sixth)', strideOf)
    .addOption(
      new Option('--return-timestamps [of]', 'tell the times of segments, or of each word').choices(['true', 'word']),
    )
    .addOption(new Option('--no-return-timestamps').hideHelp())
    .option('--json', 'print a list of { file, text, chunks } as JSON, chunks with --return-timestamps');
  const others = addGenerationOptions(addGenerativeOptions(command), ['num_return_sequences', 'return_timestamps']);
  others.addHelpText('after', after);
  command.action((source: string, words: string[], options: Options) => transcribe(context, source, words, options));
}

function strideOf(word: string): number | [number, number] {
  const [left, right, ...more] = word.split(',').map(notNegative);
  if (left === undefined || more.length > 0) throw new InvalidArgumentError('It must be seconds, or left,right.');
  return right === undefined ? left : [left, right];
}

/** Errors name the file that they are of. */
const naming =
  (word: string) =>
  (thrown: unknown): never => {
    const file = word === '-' ? 'standard input' : word;
    if (!(thrown instanceof ClearformerError) || thrown.message.includes(file)) throw thrown;
    throw new ClearformerError(thrown.code, `${thrown.message}: ${file}`, { ...thrown.details, where: file }, thrown);
  };

/** Start and end in seconds, and the text. */
function timed({ timestamp = [null, null], text }: SpeechChunk): string {
  return [...timestamp.map((time) => time?.toFixed(2) ?? ''), text.trim()].join('\t');
}

async function transcribe(context: Context, source: string, words: readonly string[], options: Options): Promise<void> {
  checkInputs(words);
  const { output, signal, note } = context;
  const { language, task, chunkLengthS: chunk_length_s, strideLengthS: stride_length_s } = options;
  const { returnTimestamps: times } = options;
  const return_timestamps = times === 'true' || times;
  const own = { language, task, chunk_length_s, stride_length_s, return_timestamps, signal };
  const settings: SpeechRecognitionOptions = { ...generationOptions(options as Record<string, unknown>), ...own };
  const recognizer = await loaded(context, source, options, (from, load) =>
    pipeline('automatic-speech-recognition', from, load),
  );
  const all: ({ file: string } & RecognizedSpeech)[] = [];
  let code: number = exitCodes.done;
  const failed = (thrown: unknown): void => {
    signal.throwIfAborted();
    code = codeOf(thrown, note);
  };
  try {
    for (const file of words) {
      const sound: AudioInput = file === '-' ? await standardInput() : fileOf(file);
      const heard = await recognizer(sound, settings).catch(naming(file)).catch(failed);
      if (heard === undefined) continue;
      const { text, chunks } = heard;
      all.push({ file, text: text.trim(), ...(chunks && { chunks }) });
      if (options.json) continue;
      for (const line of chunks?.map(timed) ?? [text.trim()]) output.line(words.length > 1 ? `${file}\t${line}` : line);
    }
    if (code !== exitCodes.done) throw new Reported(code);
  } finally {
    if (options.json && all.length > 0) output.json(all);
    await recognizer.dispose();
  }
}
