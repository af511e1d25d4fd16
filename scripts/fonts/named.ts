// Renames a font: rewrites the `name` table of an SFNT file. A modified font must not use a reserved name
// (SIL Open Font License 1.1, clause 3), and browsers refuse a font without the table.

interface Table {
  tag: string;
  content: Buffer;
}

const headerSize = 12;
const entrySize = 16;
const padded = (length: number): number => (length + 3) & ~3;

function tablesOf(font: Buffer): Table[] {
  return Array.from({ length: font.readUInt16BE(4) }, (_, i) => {
    const entry = headerSize + i * entrySize;
    const start = font.readUInt32BE(entry + 8);
    return {
      tag: font.toString('latin1', entry, entry + 4),
      content: font.subarray(start, start + font.readUInt32BE(entry + 12)),
    };
  });
}

/** The checksum of a table: the sum of its 32-bit words. */
function checksumOf(content: Buffer): number {
  const words = Buffer.alloc(padded(content.length));
  content.copy(words);
  let sum = 0;
  for (let i = 0; i < words.length; i += 4) sum = (sum + words.readUInt32BE(i)) >>> 0;
  return sum;
}

/** A format 0 table: family, style, unique name, full name, PostScript name, for Windows in English as UTF-16. */
function nameTable(family: string, style: string): Buffer {
  const full = `${family} ${style}`;
  const names: [id: number, text: string][] = [
    [1, family],
    [2, style],
    [3, full],
    [4, full],
    [6, full.replaceAll(' ', '')],
  ];
  const texts = names.map(([, text]) => Buffer.from(text, 'utf16le').swap16());
  const start = 6 + 12 * names.length;
  const head = Buffer.alloc(start);
  head.writeUInt16BE(names.length, 2);
  head.writeUInt16BE(start, 4);
  let offset = 0;
  names.forEach(([id], i) => {
    const length = texts[i]?.length ?? 0;
    [3, 1, 0x409, id, length, offset].forEach((value, j) => {
      head.writeUInt16BE(value, 6 + 12 * i + 2 * j);
    });
    offset += length;
  });
  return Buffer.concat([head, ...texts]);
}

/** The header of a font with that many tables: their number and the binary search fields. */
function headerOf(font: Buffer, count: number): Buffer {
  const header = Buffer.from(font.subarray(0, headerSize));
  const steps = Math.floor(Math.log2(count));
  const range = entrySize * 2 ** steps;
  [count, range, steps, entrySize * count - range].forEach((value, i) => {
    header.writeUInt16BE(value, 4 + 2 * i);
  });
  return header;
}

/**
 * `font` (SFNT) with the names of `family` and `style` only, and without `STAT`, which would refer to removed names and
 * cause a warning in Firefox.
 */
export function named(font: Buffer, family: string, style: string): Buffer {
  const name = nameTable(family, style);
  const tables = tablesOf(font)
    .filter(({ tag }) => tag !== 'STAT')
    .map((table) => (table.tag === 'name' ? { ...table, content: name } : table));
  const directory = Buffer.alloc(headerSize + entrySize * tables.length);
  headerOf(font, tables.length).copy(directory);
  const parts = [directory];
  let offset = directory.length;
  tables.forEach(({ tag, content }, i) => {
    const entry = headerSize + i * entrySize;
    directory.write(tag, entry, 'latin1');
    directory.writeUInt32BE(checksumOf(content), entry + 4);
    directory.writeUInt32BE(offset, entry + 8);
    directory.writeUInt32BE(content.length, entry + 12);
    const words = Buffer.alloc(padded(content.length));
    content.copy(words);
    parts.push(words);
    offset += words.length;
  });
  return Buffer.concat(parts);
}
