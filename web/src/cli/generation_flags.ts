// The options of generate() as command line options, under Hugging Face's names with dashes. The list is generated
// from the members of GenerationOptions when the package is built.

import known from 'built:generation_options';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { GenerationOptions } from '../index.js';

type Known = (typeof known)[number];

const isBoolean = ({ type }: Known) => type === 'boolean';
const dashed = (name: string) => name.replaceAll('_', '-');

/** Names, with dashes, of options without a value. */
export const booleanOptions: ReadonlySet<string> = new Set(known.filter(isBoolean).map(({ name }) => dashed(name)));

/** Adds the options to a command. */
export function addGenerationOptions(command: Command, except: readonly (keyof GenerationOptions)[] = []): Command {
  for (const option of known) {
    if ((except as readonly string[]).includes(option.name)) continue;
    for (const made of optionsOf(option)) command.addOption(made);
  }
  return command;
}

/** The generate() options among a command's options, under their own names. */
export function generationOptions(given: Readonly<Record<string, unknown>>): GenerationOptions {
  const entries = known.map(({ name }) => [name, given[attributeOf(name)]] as const);
  const said = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(said.map(([name, value]) => [name, value === saidNull ? null : value]));
}

/** The parser takes null for a missing value, so an explicit null is represented by this symbol. */
const saidNull = Symbol('null');

const attributeOf = (name: string) => plainOption(`--${dashed(name)} <value>`, '').attributeName();

/** An option whose name may begin with no- without negating anything, as in --no-repeat-ngram-size. */
function plainOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  option.negate = false;
  return option;
}

function optionsOf(option: Known): Option[] {
  const { name, description, group } = option;
  const heading = `${group}:`;
  if (isBoolean(option)) {
    const opposite = new Option(`--no-${dashed(name)}`).hideHelp();
    return [plainOption(`--${dashed(name)}`, description).helpGroup(heading), opposite];
  }
  const value = plainOption(`--${dashed(name)} <${placeholder(option)}>`, description).helpGroup(heading);
  return [value.argParser((word: string, before: unknown) => typedValue(option, word, before))];
}

function placeholder({ type }: Known): string {
  if (takesTexts(type)) return 'text';
  if (/^number( \| null)?$/.test(type)) return 'n';
  if (/^number \| readonly number\[\]/.test(type)) return 'id or list';
  return type.includes('[') || isObject(type) ? 'json' : 'value';
}

const isObject = (type: string) => /\bRecord</.test(type);
const takesTexts = (type: string) => /\breadonly string\[\]/.test(type);

/**
 * Parses a word as the option's type. Strings accumulate over several uses; numbers, lists and null are parsed as JSON.
 */
function typedValue({ type }: Known, word: string, before: unknown): unknown {
  if (takesTexts(type)) return [...((before as string[] | undefined) ?? []), word];
  const value = parsed(word);
  if (fits(type, value)) return value ?? saidNull;
  throw new InvalidArgumentError(`It must be ${expected(type)}.`);
}

function parsed(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** Whether a value can have that type; the contents of lists are checked by the library. */
function fits(type: string, value: unknown): boolean {
  if (value === null) return /\bnull$/.test(type);
  if (Array.isArray(value)) return type.includes('[');
  if (typeof value === 'object') return isObject(type);
  if (typeof value === 'string') return type.includes(`'${value}'`);
  return type.split(' | ').includes(typeof value);
}

function expected(type: string): string {
  const words = { number: 'a number', boolean: 'true or false', null: 'null' } as Record<string, string>;
  const inJson = (part: string) => (isObject(part) ? 'a JSON object' : part.includes('[') ? 'a JSON list' : part);
  const parts = type.split(' | ').map((part) => words[part] ?? inJson(part));
  return [...new Set(parts)].join(', ').replace(/, ([^,]*)$/, ' or $1');
}
