// node scripts/run.mjs models/digit_samples
// The page's sample digits: the first of each class among the reference test images, in one greyscale PNG.

import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { inProject } from '../build/fresh.js';
import { commandOf } from '../main.js';
import { SetupError } from '../toolchain/progress.js';
import { readSafetensors } from './read_safetensors.js';

const side = 28;
const classes = 10;
const pixels = side * side;

/** Images (count × 28 × 28) and labels, as bytes. */
function digits(): { images: Buffer; labels: Buffer } {
  const file = 'tests/fixtures/real_models/digits.safetensors';
  const { tensors } = readSafetensors(inProject(file));
  const [images, labels] = ['images', 'labels'].map((wanted) => tensors.find(({ name }) => name === wanted)?.bytes);
  if (!images || !labels) throw new SetupError(`${file} has no images or no labels.`);
  return { images, labels };
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function png(grey: Buffer, width: number, height: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]); // 8 bits, greyscale
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const lines = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.from([0]), grey.subarray(y * width, (y + 1) * width)]),
  );
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(Buffer.concat(lines), { level: 9 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

export const command = commandOf(async () => {
  const { images, labels } = digits();
  const strip = Buffer.alloc(pixels * classes);
  for (let label = 0; label < classes; label++) {
    const from = labels.indexOf(label) * pixels;
    for (let y = 0; y < side; y++) {
      const line = images.subarray(from + y * side, from + (y + 1) * side);
      strip.set(line, (y * classes + label) * side);
    }
  }
  writeFileSync(inProject('web/demo/public/models/vit-mnist/samples.png'), png(strip, side * classes, side));
});
