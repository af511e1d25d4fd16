// One thread of the pool: loads the model once, then embeds batches.

import { pipeline } from 'clearformer';
import Piscina, { move } from 'piscina';

const embed = await pipeline('feature-extraction', Piscina.workerData.source, { worker: false, numThreads: 1 });

export default async function vectorsOf(texts) {
  const { data } = await embed(texts, { pooling: 'mean', normalize: true });
  return move(new Float32Array(data));
}
