// clearformer inspect: describes a checkpoint without reading its weights; validate: lists all its problems.

import type { Command } from 'commander';
import { type Inspection, inspect, type Problem, type Source, validate } from '../../index.js';
import type { Context } from '../context.js';
import { exitCodes, Reported } from '../failures.js';
import { addFileOptions, loaded, type SharedOptions } from '../sources.js';

const inspectExamples = `
A checkpoint that is not whole or not supported is told about all the same: that is part of the answer, and the exit code 0.

Examples:
  clearformer inspect ./stories260K
  clearformer inspect sentence-transformers/all-MiniLM-L6-v2 --json
  clearformer inspect http://localhost:8000/model/`;

const validateExamples = `
Reads all of it: headers, index, config, tensors that are missing or have another shape, values that are NaN or infinite, the
tokenizer. A line for each problem; the exit code is 1 when one of them is more than a warning.

Examples:
  clearformer validate ./stories260K
  clearformer validate org/model --revision main --json`;

export function addInspect(program: Command, context: Context): void {
  const command = program
    .command('inspect')
    .summary('tell what a checkpoint is')
    .description(
      'What a checkpoint is: architecture, sizes, the memory it takes, every tensor, and what is wrong with it.',
    )
    .argument('<source>', 'folder, Hub id or URL of a model')
    .option('--json', 'print all of it as JSON');
  addFileOptions(command).addHelpText('after', inspectExamples);
  command.action(async (source: string, options: SharedOptions) => {
    const found = await looked(context, source, options, inspect);
    if (options.json) context.output.json(found);
    else for (const line of linesOf(found)) context.output.line(line);
  });
}

export function addValidate(program: Command, context: Context): void {
  const command = program
    .command('validate')
    .summary('find what is wrong with a checkpoint')
    .description('Everything that is wrong with a checkpoint.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .option('--json', 'print { valid, problems } as JSON');
  addFileOptions(command).addHelpText('after', validateExamples);
  command.action(async (source: string, options: SharedOptions) => {
    const found = await looked(context, source, options, validate);
    const { valid, problems } = found;
    if (options.json) context.output.json({ valid, problems });
    else for (const problem of problems) context.output.line(sentenceOf(problem));
    if (!valid) throw new Reported(exitCodes.failed);
    if (!options.json) context.output.line(`valid: ${summaryOf(found)}`);
  });
}

/** Passes only the options common to both calls: nothing is loaded. */
function looked<Found>(
  context: Context,
  source: string,
  options: SharedOptions,
  look: (
    source: Source,
    options: { revision?: string | undefined; signal?: AbortSignal | undefined },
  ) => Promise<Found>,
): Promise<Found> {
  return loaded(context, source, options, (from, { revision, signal }) => look(from, { revision, signal }));
}

function summaryOf({ model_type, tensors, parameters }: Inspection): string {
  return `${model_type}, ${tensors.length} tensors, ${parameters ?? 0} parameters`;
}

const sentenceOf = ({ severity, message, file }: Problem) => {
  const named = file === undefined || message.includes(file) ? message : `${file}: ${message}`;
  return severity === 'error' ? named : `warning: ${named}`;
};

function linesOf(found: Inspection): string[] {
  const rows = facts(found).filter(([, value]) => value !== '');
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}${value}`),
    ...section('problems', found.problems.map(sentenceOf)),
    ...section('tensors', table(found.tensors.map(({ name, dtype, shape }) => [name, dtype, `[${shape.join(', ')}]`]))),
    ...section('unexpected tensors', found.unexpected_tensors),
  ];
}

function facts(found: Inspection): [string, string][] {
  const { cfg, memory, peak, cache, tokenizer, bytes, parameters } = found;
  const sizes = Object.entries(cfg ?? {}).filter(([, value]) => typeof value === 'number');
  return [
    ['model type', found.model_type ?? ''],
    ['architectures', found.architectures.join(', ')],
    ['kind', found.kind ?? ''],
    ['task', found.task ?? ''],
    ['pipeline', found.pipeline ?? ''],
    ['pipelines', found.pipelines.join(', ')],
    ['reads', found.input_modalities.join(', ')],
    ['tokenizer', tokenizer === null ? '' : tokenizer.files.join(', ')],
    ['processor', found.processor.join(', ')],
    ['sizes', sizes.map(([name, value]) => `${name} ${rounded(Number(value))}`).join(', ')],
    ['parameters', parameters === null ? '' : String(parameters)],
    ['stored', perDtype(bytes)],
    ['memory', perDtype(memory)],
    ['peak', perDtype(peak)],
    ['fits', found.fits ?? ''],
    [
      'cache',
      Object.entries(cache ?? {})
        .map(([dtype, size]) => {
          const { per_position, per_source_position, per_sequence } = size;
          const once = per_sequence === undefined ? '' : `, ${per_sequence} bytes a text`;
          return `${dtype} ${per_position} bytes a token${ofSource(per_source_position)}${once}`;
        })
        .join(', '),
    ],
    ['valid', found.valid ? 'yes' : 'no'],
  ];
}

/** Drops the digits beyond float32 precision. */
const rounded = (value: number) => (Number.isInteger(value) ? value : Number(value.toPrecision(7)));
const ofSource = (bytes: number) => (bytes === 0 ? '' : `, ${bytes} bytes a token that was read`);

/** "fp32 1.0 MB, fp16 0.5 MB". */
const perDtype = (bytes: Readonly<Record<string, number>> | null) =>
  Object.entries(bytes ?? {})
    .map(([dtype, size]) => `${dtype} ${(size / 1e6).toFixed(1)} MB`)
    .join(', ');

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title} (${lines.length})`, ...lines.map((line) => `  ${line}`)];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
