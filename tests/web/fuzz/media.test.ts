// Mutated images and audio: rejected with a typed error, or decoded to pixels and samples of the stated size.

import { readdirSync, readFileSync } from 'node:fs';
import { RawImage, read_audio } from 'clearformer';
import { expect, it } from 'vitest';
import { damagedBytes, fuzz } from '../support/fuzzing.js';
import { fixturePath } from '../support/references.js';

const folder = fixturePath('image_files');
const images = readdirSync(folder)
  .filter((name) => /\.(png|gif|jpg|webp)$/.test(name))
  .map((name) => new Uint8Array(readFileSync(`${folder}/${name}`)))
  .filter(({ length }) => length < 20_000);

function wav(bits: number, channels: number, tag = 1): Uint8Array {
  const samples = 32 * channels * (bits / 8);
  const bytes = Buffer.alloc(44 + samples, 0x5a);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE((8000 * channels * bits) / 8, 28);
  bytes.writeUInt16LE((channels * bits) / 8, 32);
  bytes.writeUInt16LE(bits, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples, 40);
  return new Uint8Array(bytes);
}
const sounds = [wav(8, 1), wav(16, 1), wav(16, 2), wav(24, 1), wav(32, 2), wav(32, 1, 3)];

it('damaged images', async () => {
  const counts = await fuzz('images', 120, damagedBytes(images), async (bytes) => {
    const { width, height, channels, data } = await RawImage.read(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    expect(data.length).toBe(width * height * channels);
  });
  expect(counts.refused).toBeGreaterThan(0);
});

it('rates that would take for ever are refused', async () => {
  for (const [rate, wanted] of [
    [1, 16000],
    [0x41001f40, 8000],
    [16000, 1],
  ] as const) {
    const sound = { data: new Float32Array(100), sampling_rate: rate };
    await expect(read_audio(sound, wanted)).rejects.toThrow(expect.objectContaining({ code: 'unsupported' }));
  }
});

it('damaged sounds', async () => {
  const counts = await fuzz('sounds', 1000, damagedBytes(sounds), async (bytes) => {
    const samples = await read_audio(bytes, 8000);
    expect(samples).toBeInstanceOf(Float32Array);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});
