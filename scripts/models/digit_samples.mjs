// node scripts/models/digit_samples.mjs
// The page's sample digits: the first of each class among the test images of the references, side by side in one grey PNG.
import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { inProject } from '../build/fresh.mjs';
import { readSafetensors } from './read_safetensors.mjs';

const kSide = 28;
const kClasses = 10;

/** Images (count × 28 × 28) and labels, as bytes. */
function digits() {
  const { tensors } = readSafetensors(inProject('tests/fixtures/real_models/digits.safetensors'));
  return Object.fromEntries(tensors.map(({ name, bytes }) => [name, bytes]));
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function png(grey, width, height) {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]); // 8 bits, grey
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const lines = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.from([0]), grey.subarray(y * width, (y + 1) * width)]),
  );
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(Buffer.concat(lines), { level: 9 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

const { images, labels } = digits();
const strip = Buffer.alloc(kSide * kSide * kClasses);
for (let label = 0; label < kClasses; label++) {
  const from = labels.indexOf(label) * kSide * kSide;
  for (let y = 0; y < kSide; y++) {
    const line = images.subarray(from + y * kSide, from + (y + 1) * kSide);
    strip.set(line, (y * kClasses + label) * kSide);
  }
}
writeFileSync(inProject('web/demo/public/models/vit-mnist/samples.png'), png(strip, kSide * kClasses, kSide));
