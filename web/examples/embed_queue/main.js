// Embeddings of many texts on any number of machines: npm start -- MODEL TEXTS.txt VECTORS.f32 [WORKERS]
// Starts Redis and this many local workers, and queues the lines of TEXTS.txt in batches. A batch's vectors have their
// own offset in VECTORS.f32 and are written once; a batch whose worker dies is given to another.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Queue, QueueEvents } from 'bullmq';
import { connectionOf, listening, name } from './queue.js';

const [source, textsFile, vectorsFile, workers = availableParallelism()] = process.argv.slice(2);
if (vectorsFile === undefined) throw new Error('usage: npm start -- MODEL TEXTS.txt VECTORS.f32 [WORKERS]');
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6390';
const connection = connectionOf(url);
const children = new Set();
let done = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children) child.kill();
});

function start(command, words, whenGone) {
  const child = spawn(command, words, { stdio: 'inherit' });
  children.add(child);
  child.on('error', ({ message }) => console.error(message));
  child.on('exit', (code, signal) => {
    children.delete(child);
    if (!done) whenGone(signal ?? code);
  });
  return child;
}

function startWorker() {
  const child = start(process.execPath, ['worker.js', source, url], (reason) => {
    console.log(`worker ${child.pid} has gone (${reason}); another takes its place`);
    startWorker();
  });
  console.log(`worker ${child.pid} has started`);
}

const folder = mkdtempSync(join(tmpdir(), 'embed-queue-'));
if (process.env.REDIS_URL === undefined) {
  const words = [
    '--port',
    String(connection.port),
    '--bind',
    connection.host,
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--save',
    '',
  ];
  start('redis-server', [...words, '--loglevel', 'warning'], () => process.exit(1));
}
await listening(connection);
for (let i = 0; i < Number(workers); ++i) startWorker();

const queue = new Queue(name, { connection });
await queue.obliterate({ force: true }); // remains of an earlier run
const events = new QueueEvents(name, { connection });
await events.waitUntilReady();
let again = 0;
events.on('stalled', () => ++again);
const output = await open(vectorsFile, 'w');
const underWay = new Set();
let texts = 0;
let written = 0;

async function embed(batch, first) {
  const job = await queue.add('batch', { texts: batch }, { jobId: `batch-${first}` });
  const { size, vectors } = await job.waitUntilFinished(events);
  const bytes = Buffer.from(vectors, 'base64');
  await output.write(bytes, 0, bytes.byteLength, first * size * 4); // 4 bytes per number
  written += batch.length;
  await job.remove();
  if (written % 1000 < batch.length) console.log(`written so far: ${written}`);
}

function handOut(batch, first) {
  const work = embed(batch, first).finally(() => underWay.delete(work));
  underWay.add(work);
}

const began = performance.now();
let batch = [];
for await (const line of createInterface({ input: createReadStream(textsFile), crlfDelay: Number.POSITIVE_INFINITY })) {
  batch.push(line);
  if (batch.length < 32) continue;
  handOut(batch, texts);
  texts += batch.length;
  batch = [];
  if (underWay.size >= 64) await Promise.race(underWay);
}
if (batch.length > 0) handOut(batch, texts);
texts += batch.length;
await Promise.all(underWay);
const seconds = (performance.now() - began) / 1000;
console.log(
  `texts: ${texts}, written: ${written}, batches computed again: ${again}, texts a second: ${Math.round(texts / seconds)}`,
);

done = true;
await Promise.all([output.close(), events.close(), queue.close()]);
const gone = [...children].map((child) => once(child, 'exit'));
for (const child of children) child.kill();
await Promise.all(gone); // Redis writes to its folder until it exits
rmSync(folder, { recursive: true, force: true });
