// The projects of web/examples that compute embeddings of many texts: all rows, in order, with the package's values,
// also if workers are killed on the way.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'clearformer';
import { expect, it } from 'vitest';
import { modelFolder, Project } from './project.js';

/** Rows of `vectors.f32` that differ from the package's embedding of the text in that line. */
async function wrongRows(project: Project): Promise<{ rows: number; wrong: number[] }> {
  const texts = readFileSync(join(project.folder, 'texts.txt'), 'utf8').trimEnd().split('\n');
  const bytes = readFileSync(join(project.folder, 'vectors.f32'));
  const found = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const embed = await pipeline('feature-extraction', modelFolder('bert-tiny-fill'));
  const wrong: number[] = [];
  let size = 1;
  for (let first = 0; first < texts.length; first += 500) {
    const { data, dims } = await embed(texts.slice(first, first + 500), { pooling: 'mean', normalize: true });
    size = dims[1] ?? 1;
    for (const [i, value] of data.entries())
      if (!(Math.abs(Number(value) - (found[first * size + i] ?? Number.NaN)) < 1e-4))
        wrong.push(first + Math.floor(i / size));
  }
  await embed.dispose();
  return { rows: found.length / size, wrong: [...new Set(wrong)] };
}

it('embed_pool makes all vectors and tells the throughput of each number of threads', async () => {
  const project = await Project.create('embed_pool');
  const out = await project.follow();
  const lines = [...out.matchAll(/^threads: (\d+), texts: (\d+), seconds: [\d.]+, texts a second: (\d+)$/gm)];
  expect(lines.length).toBeGreaterThan(0);
  expect(lines[0]?.[1]).toBe('1');
  for (const [, , texts, speed] of lines) expect([texts, Number(speed) > 0]).toEqual(['2000', true]);
  expect(await wrongRows(project)).toEqual({ rows: 2000, wrong: [] });
});

const hasRedis = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

it.skipIf(!hasRedis)(
  `embed_queue loses and repeats no text${hasRedis ? '' : ' (redis-server is not installed)'}`,
  async () => {
    const project = await Project.create('embed_queue');
    await project.follow(project.commands.slice(0, -1));
    const running = project.start(project.commands.at(-1) ?? '');
    const killed: number[] = [];
    for (let i = 0; i < 3; ++i) {
      await running.says(/written so far: [1-9]/);
      await new Promise((done) => setTimeout(done, 400));
      const started = [...running.text.matchAll(/worker (\d+) has started/g)].map(([, pid]) => Number(pid));
      const pid = started.find((each) => !killed.includes(each));
      if (pid === undefined) throw new Error(running.text);
      process.kill(pid, 'SIGKILL');
      killed.push(pid);
      await running.says(new RegExp(`worker ${pid} has gone \\(SIGKILL\\); another takes its place`));
    }
    const [, texts, written, again] = await running.says(
      /^texts: (\d+), written: (\d+), batches computed again: (\d+)/m,
    );
    expect(Number(again)).toBeGreaterThan(0); // a worker was killed within a batch
    expect([texts, written]).toEqual(['20000', '20000']);
    expect(await running.ended).toBe(0);
    expect(await wrongRows(project)).toEqual({ rows: 20_000, wrong: [] });
  },
);
