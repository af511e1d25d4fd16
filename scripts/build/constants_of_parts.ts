// The constants of the parts: what only functions of one part read, such as the names and defaults of its architectures' keys,
// is in that part's file and not in the first. Constants are the texts and tables that the linker's map lists; who reads one
// is known from the addresses that the files' code and other tables contain. An address between two constants, or in no
// file alone, keeps its constant in the first. A part writes its constants to memory when it is instantiated.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type PartName, partNames, typesOfFirst } from '../../web/src/runtime/needed_parts.js';
import { run, SetupError } from '../toolchain/progress.js';
import { part, Reader, sectionIds, sectionsOf, written, writtenSigned } from './wasm_binary.js';

export type FileName = 'first' | PartName;

/** Addresses from `start` to before `end`. */
interface Range {
  start: number;
  end: number;
}

interface Constant extends Range {
  isText: boolean;
  /** The files whose code has an address in it. */
  files: Set<FileName>;
  /** The tables that have one. */
  tables: Set<Constant>;
  /** Where it is. */
  file: FileName;
}

/** Code may count from an address before a table, whose first index is not 0. */
const before = 16;

/** The numbers in a file's code that may be addresses: parts of constants, and offsets of loads and stores. */
function numbersIn(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const [, word, offset, long, lanes] of text.matchAll(
    /i32\.const (-?\d+)|\boffset=(\d+)|i64\.const (-?\d+)|v128\.const i32x4 ([0-9a-fx ]+)/g,
  )) {
    if (long !== undefined) {
      const bits = BigInt.asUintN(64, BigInt(long));
      for (const half of [bits & 0xffffffffn, bits >> 32n]) numbers.add(Number(half));
    } else if (lanes !== undefined) for (const lane of lanes.split(' ')) numbers.add(Number(lane));
    else numbers.add(Number(word ?? offset));
  }
  return numbers;
}

/** A program's memory as its first file initialises it: views of that file's data segments, by address. */
class InitialMemory {
  readonly #segments: (Range & { bytes: Uint8Array })[];

  constructor(module: Uint8Array, text: string) {
    const section = new Reader(sectionsOf(module).get(sectionIds.data) ?? new Uint8Array(1));
    const contents = Array.from({ length: section.number() }, () => {
      if (section.number() !== 1) throw new SetupError('A data segment of the WASM is not passive');
      return section.part();
    });
    const calls = /\(memory\.init \$(\d+)\s+\(i32\.const (\d+)\)\s+\(i32\.const (\d+)\)\s+\(i32\.const (\d+)\)/g;
    this.#segments = [...text.matchAll(calls)].map((call) => {
      const [index = 0, start = 0, from = 0, size = 0] = call.slice(1).map(Number);
      return { start, end: start + size, bytes: contents[index]?.subarray(from, from + size) ?? new Uint8Array() };
    });
    if (this.#segments.length === 0) throw new SetupError('No code of the WASM initialises its memory');
  }

  /** A view of the bytes; of all zeros if no segment has them. */
  at({ start, end }: Range): Uint8Array {
    const found = this.#segments.find((segment) => segment.start <= start && end <= segment.end);
    return found?.bytes.subarray(start - found.start, end - found.start) ?? new Uint8Array(end - start);
  }

  /** The number in the four bytes from `address` on. */
  word(address: number): number {
    const bytes = this.at({ start: address, end: address + 4 });
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  }

  /** The addresses of all words. */
  *words(): Iterable<number> {
    for (const { start, end } of this.#segments)
      for (let address = (start + 3) & ~3; address + 4 <= end; address += 4) yield address;
  }
}

/** The read-only constants of a linker's map, and the places of those with a name. */
function constantsIn(map: string, memory: InitialMemory): { constants: Constant[]; named: Map<string, Range> } {
  const constants: Constant[] = [];
  const named = new Map<string, Range>();
  const add = (start: number, end: number, isText: boolean): void =>
    void constants.push({ start, end, isText, files: new Set(), tables: new Set(), file: 'first' });
  for (const line of map.split('\n')) {
    const [, at = '', length = '', indent = '', name = ''] =
      /^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)( +)(\S.*)$/.exec(line) ?? [];
    const [start, size] = [Number.parseInt(at, 16), Number.parseInt(length, 16)];
    if (!size) continue;
    if (name === '<internal>:(.rodata)') {
      const bytes = memory.at({ start, end: start + size });
      for (let from = 0; from < size; ) {
        const end = bytes.indexOf(0, from) + 1 || size;
        add(start + from, start + end, true);
        from = end;
      }
    } else if (/:\(\.rodata\.[^)]*\)$/.test(name)) add(start, start + size, false);
    else if (indent.length > 8) named.set(name, { start, end: start + size });
  }
  return { constants: constants.sort((one, other) => one.start - other.start), named };
}

/** Finds constants by address. */
class Places {
  readonly #constants: readonly Constant[];

  constructor(constants: readonly Constant[]) {
    this.#constants = constants;
  }

  /** The constant at an address. */
  at(address: number): Constant | undefined {
    const found = this.#constants[this.#after(address) - 1];
    return found && address < found.end ? found : undefined;
  }

  /** Those that code with this address may read. */
  near(address: number): Constant[] {
    const next = this.#constants[this.#after(address)];
    const isNext = next && !next.isText && next.start - before <= address;
    return [this.at(address), isNext ? next : undefined].filter((each) => each !== undefined);
  }

  /** The index of the first constant that starts behind an address. */
  #after(address: number): number {
    let [low, high] = [0, this.#constants.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#constants[middle]?.start ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const wordSize = 4;

/**
 * The architectures: tables that the first file searches for a model type, their first member, and that are read
 * otherwise once the part is there.
 */
function architecturesIn(named: ReadonlyMap<string, Range>, memory: InitialMemory): Map<number, FileName> {
  const known = named.get('clearformer::kKnown');
  if (!known) throw new SetupError("The linker's map has no clearformer::kKnown, the table of the architectures");
  const architectures = new Map<number, FileName>();
  for (let address = known.start; address < known.end; address += wordSize) {
    const start = memory.word(address);
    const text = memory.word(start);
    const type = new TextDecoder().decode(memory.at({ start: text, end: text + memory.word(start + wordSize) }));
    architectures.set(start, typesOfFirst.includes(type) ? 'first' : 'families');
  }
  return architectures;
}

/** Decides where each constant is. */
function place(constants: readonly Constant[], texts: ReadonlyMap<FileName, string>, map: Placed): void {
  const places = new Places(constants);
  for (const [file, text] of texts)
    for (const number of numbersIn(text)) for (const each of places.near(number)) each.files.add(file);
  const architectures = architecturesIn(map.named, map.memory);
  for (const address of map.memory.words()) {
    const [holder, held] = [places.at(address), places.at(map.memory.word(address))];
    if (!held || held === holder || holder?.isText) continue;
    const architecture = holder && architectures.get(holder.start);
    if (!holder) held.files.add('first');
    else if (architecture && address !== holder.start) held.files.add(architecture);
    else held.tables.add(holder);
  }
  for (let moved = true; moved; ) {
    moved = false;
    for (const each of constants) {
      if (each.file !== 'first' || architectures.has(each.start)) continue;
      const [file = 'first', ...others] = new Set([...each.files, ...[...each.tables].map((table) => table.file)]);
      if (file === 'first' || others.length > 0) continue;
      each.file = file;
      moved = true;
    }
  }
}

interface Placed {
  named: ReadonlyMap<string, Range>;
  memory: InitialMemory;
}

/** A data section that writes `constants` to memory; neighbours are one segment. */
function dataSection(constants: readonly Constant[], memory: InitialMemory): Uint8Array {
  const segments: (Range & { bytes: number[] })[] = [];
  for (const { start, end } of constants) {
    const last = segments.at(-1);
    const bytes = memory.at({ start, end });
    if (last?.end === start) Object.assign(last, { end, bytes: [...last.bytes, ...bytes] });
    else segments.push({ start, end, bytes: [...bytes] });
  }
  const [i32Const, end] = [0x41, 0x0b];
  const active = segments.flatMap(({ start, bytes }) => [0, i32Const, ...writtenSigned(start), end, ...part(bytes)]);
  return new Uint8Array([sectionIds.data, ...part([...written(segments.length), ...active])]);
}

/** Moves the constants of a program's parts from its first file to theirs. `fileOf` gives their paths. */
export async function moveConstants(map: string, fileOf: (name: FileName) => string, binaryen: string): Promise<void> {
  const names: readonly FileName[] = ['first', ...partNames];
  const texts = new Map<FileName, string>();
  for (const name of names) {
    const { stdout } = await run(join(binaryen, 'wasm-dis'), [fileOf(name), '--all-features']);
    texts.set(name, stdout);
  }
  const first = readFileSync(fileOf('first'));
  const memory = new InitialMemory(first, texts.get('first') ?? '');
  const { constants, named } = constantsIn(readFileSync(map, 'utf8'), memory);
  place(constants, texts, { named, memory });
  for (const name of partNames) {
    const moved = constants.filter(({ file }) => file === name);
    const file = readFileSync(fileOf(name));
    writeFileSync(fileOf(name), Buffer.concat([file, dataSection(moved, memory)]));
    for (const each of moved) memory.at(each).fill(0);
  }
  writeFileSync(fileOf('first'), first);
}
