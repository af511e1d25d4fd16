// The program: its commands, and usage errors.

import { description, version } from 'built:package';
import { Command, type Option } from 'commander';
import { addChat } from './commands/chat.js';
import { addClassify } from './commands/classify.js';
import { addEmbed } from './commands/embed.js';
import { addGenerate } from './commands/generate.js';
import { addInspect, addValidate } from './commands/inspect.js';
import { addRank } from './commands/rank.js';
import { addTokenize } from './commands/tokenize.js';
import { addTranscribe } from './commands/transcribe.js';
import { addTranslate } from './commands/translate.js';
import type { Context } from './context.js';
import { UsageError } from './failures.js';
import { booleanOptions } from './generation_flags.js';

const commands = [
  addInspect,
  addValidate,
  addGenerate,
  addChat,
  addTranslate,
  addEmbed,
  addClassify,
  addRank,
  addTranscribe,
  addTokenize,
];

const about = `${description}

SOURCE is a folder on disk, a Hub id such as sentence-transformers/all-MiniLM-L6-v2, or the URL of a folder:
the files of a Hugging Face checkpoint (safetensors). Where an argument is a text, - stands for standard input.`;

const after = `
"clearformer COMMAND --help" tells a command's options and shows examples.
An option of generate() without a value is switched off by --no- before its name, as in --no-do-sample.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`;

export function makeProgram(context: Context): Command {
  const program = new Command('clearformer');
  // Set before the commands are added, which inherit these settings.
  program
    .exitOverride()
    .showHelpAfterError('("clearformer COMMAND --help" tells what a command takes)')
    .configureOutput({
      writeOut: (text) => context.output.write(text),
      writeErr: (text) => void process.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'clearformer: ')),
    })
    .configureHelp({ helpWidth: Math.min(120, process.stdout.columns || 120) });
  program.description(about).version(version, '--version', 'print the version').addHelpText('after', after);
  program.helpOption('-h, --help', 'print this help');
  program.usage('COMMAND SOURCE [options]');
  for (const add of commands) add(program, context);
  return program;
}

/**
 * Normalises the options among the arguments for the parser. What an option takes, and all after `--`, stays as it is.
 * Throws a UsageError for `--name=value` of an option without a value, which the parser calls unknown.
 */
export function prepared(program: Command, words: readonly string[]): string[] {
  const [first, second] = words;
  const named = (name: string | undefined) => program.commands.find((each) => each.name() === name);
  // Commander's help of a command that there is not does not say so, but the parser does.
  if (first === 'help' && second !== undefined && !named(second)) return prepared(program, words.slice(1));
  const command = named(first);
  let [isValue, isOver] = [false, false];
  return words.map((word, i) => {
    isOver ||= word === '--' && !isValue;
    const isOption = !isValue && !isOver;
    const given = isOption ? normalized(word) : word;
    const [, name, value] = (isOption && /^(--[\w-]+)=(.*)$/s.exec(given)) || [];
    if (command?.options.some(({ long, required, optional }) => long === name && !required && !optional)) {
      throw new UsageError(`option '${name}' takes no value, got '${value}'`);
    }
    isValue = isOption && command?.options.some(takes(given)) === true;
    const choices = isOption && command?.options.find(mayTake(given))?.argChoices;
    return !choices || choices.includes(words[i + 1] ?? '') ? given : `${given}=true`;
  });
}

/** An option that is given as true unless one of its values follows: what follows else is no value. */
const mayTake = (name: string) => (option: Option) => option.optional && option.long === name;

const takes = (name: string) => (option: Option) => option.required && [option.long, option.short].includes(name);

/** An option's name with dashes, and `--do-sample=false` as `--no-do-sample`. */
function normalized(word: string): string {
  const [, name, value] = /^--([\w-]+)(=.*)?$/s.exec(word) ?? [];
  if (name === undefined) return word;
  const dashed = name.replaceAll('_', '-');
  if (!booleanOptions.has(dashed) || value === undefined) return `--${dashed}${value ?? ''}`;
  if (value === '=true') return `--${dashed}`;
  if (value === '=false') return `--no-${dashed}`;
  return `--${dashed}${value}`;
}
