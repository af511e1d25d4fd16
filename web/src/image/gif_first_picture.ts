// The first frame of a GIF as decoded by Pillow: transparent colours keep their red, green and blue, and pixels outside
// the frame have the transparent colour, or else the first one. The picture has the size of the screen, or is larger if
// the frame is; sharp takes screens of some usual sizes for wrong, and the frame for the picture.
// Source: CompuServe 1990, Graphics Interchange Format 89a.

import { copied } from '../support/copied.js';
import type { Pixels } from './pixels.js';

interface Picture {
  left: number;
  top: number;
  width: number;
  height: number;
  /** The size of the whole. */
  columns: number;
  rows: number;
  /** The colour outside the frame: red, green, blue. */
  around: Uint8Array;
}

/** The file without transparency in its first frame, and the position of that frame; undefined if it is invalid. */
export function withoutTransparency(file: Uint8Array): { file: Uint8Array; picture: Picture } | undefined {
  const bytes = copied(file);
  const view = new DataView(bytes.buffer);
  try {
    let transparent = 0;
    for (let at = afterTable(bytes, 10, 13); ; at = afterBlocks(bytes, at + 2)) {
      if (bytes[at] === 0x2c) return { file: bytes, picture: pictureAt(bytes, view, at, transparent) };
      if (bytes[at] !== 0x21) return undefined; // neither an extension nor a frame
      if (bytes[at + 1] !== 0xf9) continue;
      const flags = view.getUint8(at + 3);
      if (flags & 1) transparent = view.getUint8(at + 6);
      view.setUint8(at + 3, flags & ~1);
    }
  } catch {
    return undefined; // truncated: reported by the decoder
  }
}

/** The offset after the colour table that starts at `start`, if the flags declare one. */
function afterTable(bytes: Uint8Array, flagsAt: number, start: number): number {
  const flags = bytes[flagsAt] ?? 0;
  return flags & 0x80 ? start + 3 * 2 ** ((flags & 7) + 1) : start;
}

/** The offset after a sequence of data blocks. */
function afterBlocks(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; bytes[at] !== 0; at += 1 + (bytes[at] as number)) if (at >= bytes.length) throw new Error('no end');
  return at + 1;
}

function pictureAt(bytes: Uint8Array, view: DataView, at: number, transparent: number): Picture {
  const [left = 0, top = 0, width = 0, height = 0] = [1, 3, 5, 7].map((offset) => view.getUint16(at + offset, true));
  const table = view.getUint8(at + 9) & 0x80 ? at + 10 : 13;
  const colour = table + 3 * transparent;
  const columns = Math.max(view.getUint16(6, true), left + width);
  const rows = Math.max(view.getUint16(8, true), top + height);
  return { left, top, width, height, columns, rows, around: bytes.subarray(colour, colour + 3) };
}

/** The whole: the frame of `image`, whose other pixels may be missing, with the outside colour around it. */
export function surrounded(image: Pixels, { left, top, width, height, columns, rows, around }: Picture): Pixels {
  const { channels } = image;
  const data = new Uint8Array(columns * rows * channels);
  const row = new Uint8Array(columns * channels).fill(255);
  for (let x = 0; x < columns; x++) row.set(around, x * channels);
  const shown = Math.min(width, image.width - left);
  for (let y = 0; y < rows; y++) {
    data.set(row, y * row.length);
    if (y < top || y >= top + height) continue;
    const from = y * image.width + left;
    data.set(image.data.subarray(from * channels, (from + shown) * channels), (y * columns + left) * channels);
  }
  return { data, width: columns, height: rows, channels };
}
