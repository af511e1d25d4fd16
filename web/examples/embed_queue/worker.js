// A worker, on this machine or another: npm run worker -- MODEL REDIS_URL

import { Worker } from 'bullmq';
import { pipeline } from 'clearformer';
import { connectionOf, name } from './queue.js';

const [source, url] = process.argv.slice(2);
if (url === undefined) throw new Error('usage: npm run worker -- MODEL REDIS_URL');
const embed = await pipeline('feature-extraction', source, { numThreads: 1 });

async function work({ data: { texts } }) {
  const { data, dims } = await embed(texts, { pooling: 'mean', normalize: true });
  return { size: dims[1], vectors: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
}

// A batch whose worker has not renewed its lock for 3 seconds is given to another worker, however often that happens.
const options = { lockDuration: 3000, stalledInterval: 1000, maxStalledCount: 1000 };
const worker = new Worker(name, work, { connection: connectionOf(url), ...options });
worker.on('error', ({ message }) => console.error(message));
process.on('SIGTERM', () => process.exit(0));
