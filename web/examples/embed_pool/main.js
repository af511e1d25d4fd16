// Embeddings of many texts: npm start -- MODEL TEXTS.txt VECTORS.f32 [THREADS]
// TEXTS.txt has one text per line; VECTORS.f32 holds the vectors in the same order, as little-endian float32, row by
// row. Memory use does not depend on the number of lines: only a few batches are in progress, each written at its own
// offset.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import Piscina from 'piscina';

const [source, textsFile, vectorsFile, threads = availableParallelism()] = process.argv.slice(2);
if (vectorsFile === undefined) throw new Error('usage: npm start -- MODEL TEXTS.txt VECTORS.f32 [THREADS]');

async function* batchesOf(file, size) {
  let batch = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    batch.push(line);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Embeds all texts with this many threads; resolves to texts per second. */
async function embed(count) {
  const pool = new Piscina({
    filename: new URL('./worker.js', import.meta.url).href,
    workerData: { source },
    minThreads: count,
    maxThreads: count,
  });
  const output = await open(vectorsFile, 'w');
  const start = performance.now();
  const underWay = new Set();
  let texts = 0;
  for await (const batch of batchesOf(textsFile, 32)) {
    const first = texts;
    texts += batch.length;
    const work = pool.run(batch).then(async (vectors) => {
      await output.write(vectors, 0, vectors.byteLength, (first * vectors.byteLength) / batch.length);
      underWay.delete(work);
    });
    underWay.add(work);
    if (underWay.size >= 4 * count) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  const seconds = (performance.now() - start) / 1000;
  await output.close();
  await pool.destroy();
  console.log(
    `threads: ${count}, texts: ${texts}, seconds: ${seconds.toFixed(1)}, texts a second: ${Math.round(texts / seconds)}`,
  );
}

for (let count = 1; count < Number(threads); count *= 2) await embed(count);
await embed(Number(threads));
