// The cases of tests/fixtures/pipelines: checkpoints with their tokenizers in memory, arguments, and answers.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type ImagePixels, Tensor } from 'clearformer';
import { expect } from 'vitest';
import type { Files } from './checkpoints.js';
import { expectClose, fixturePath, readReferences } from './references.js';

export interface PipelineCall {
  arguments: unknown[];
  options: Record<string, unknown>;
  answer?: unknown;
  /** Key of the answer in the case's file, where it is a tensor. */
  tensor?: string;
}

export interface PipelineCase {
  name: string;
  op: string;
  checkpoint: string;
  tokenizer?: string;
  file?: string;
  config?: Record<string, unknown>;
  generation_config?: Record<string, unknown>;
  files?: Record<string, unknown>;
  calls: PipelineCall[];
}

export const pipelineCases: PipelineCase[] = JSON.parse(
  readFileSync(fixturePath('pipelines/cases.json'), 'utf8'),
).cases;

/** The case of that name. */
export function pipelineCase(name: string): PipelineCase {
  const found = pipelineCases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}

export const jsonFile = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** The files of a folder of fixtures, by name. */
export function folderFiles(folder: string): Files {
  const path = fixturePath(folder);
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  return Object.fromEntries(
    names.map((name) => [name.replaceAll('\\', '/'), new Uint8Array(readFileSync(`${path}/${name}`))]),
  );
}

/** A case's checkpoint with the files and settings that the case adds. */
export function filesOf({ checkpoint, tokenizer, config, generation_config, files }: PipelineCase): Files {
  const held = folderFiles(checkpoint);
  const changed = (name: string, more: Record<string, unknown> = {}): Files => {
    if (!existsSync(fixturePath(`${checkpoint}/${name}`))) return {};
    return { [name]: jsonFile({ ...JSON.parse(new TextDecoder().decode(held[name])), ...more }) };
  };
  return {
    ...held,
    ...(tokenizer === undefined ? {} : folderFiles(`pipelines/${tokenizer}`)),
    ...changed('config.json', config),
    ...changed('generation_config.json', generation_config),
    ...Object.fromEntries(Object.entries(files ?? {}).map(([name, value]) => [name, jsonFile(value)])),
  };
}

/** RGB noise, as the references' script makes it. */
export function picture(seed: number, height: number, width: number): ImagePixels {
  const data = Uint8Array.from({ length: height * width * 3 }, (_, i) => (i * i * 7 + i * 31 + seed * 53) % 256);
  return { data, height, width, channels: 3 };
}

/** Tones and noise, as the references' script makes them. */
export function sound(seed: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => {
    const sum = ((i * (seed + 3)) % 97) + ((i * i * (seed + 1)) % 61) + (Math.floor(i / 90) % 7) * 40;
    return ((sum % 512) - 256) / 1024;
  });
}

/** Arguments with the images and sounds that formulas stand for. */
export function argumentsOf(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(argumentsOf);
  if (typeof given !== 'object' || given === null) return given;
  if ('picture' in given) return picture(...(given.picture as [number, number, number]));
  if ('sound' in given) return sound(...(given.sound as [number, number]));
  return given;
}

const bound = 2e-5; // scores are parts of 1, or logits of a few units, that float32 errors of either side move by less

/** Numbers within the bound, everything else equal. */
export function expectAnswer(found: unknown, wanted: unknown, where: string): void {
  if (typeof wanted === 'number' && !Number.isInteger(wanted)) {
    expect(Math.abs((found as number) - wanted), `${where}: ${found}, wanted ${wanted}`).toBeLessThan(bound);
    return;
  }
  if (typeof wanted !== 'object' || wanted === null) {
    expect(found, where).toEqual(wanted);
    return;
  }
  expect(Object.keys(found as object).sort(), where).toEqual(Object.keys(wanted).sort());
  for (const [key, value] of Object.entries(wanted)) {
    expectAnswer((found as Record<string, unknown>)[key], value, `${where}.${key}`);
  }
}

/** A tensor close to one of the case's file. */
export function expectTensor({ file }: PipelineCase, found: unknown, key: string): void {
  const reference = readReferences(fixturePath(`pipelines/${file}`)).get(key);
  expect(found).toBeInstanceOf(Tensor);
  if (reference === undefined) throw new Error(`${file} has no ${key}`);
  expectClose(key, found as Tensor, reference);
}
