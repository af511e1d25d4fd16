// Semantic search in notes: npm start -- MODEL FOLDER QUESTION
// Every paragraph (no headings) of the folder's .md and .txt files is embedded; the three nearest to the question are
// printed.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dot, pipeline } from 'clearformer';

const [source, folder, question] = process.argv.slice(2);
if (question === undefined) throw new Error('usage: npm start -- MODEL FOLDER QUESTION');

const paragraphs = [];
for (const name of (await readdir(folder, { recursive: true })).sort()) {
  if (!/\.(md|txt)$/.test(name)) continue;
  const text = await readFile(join(folder, name), 'utf8');
  for (const { index, 0: paragraph } of text.matchAll(/^(?!#)\S.*(?:\n.*\S.*)*/gm))
    paragraphs.push({ text: paragraph, where: `${name}:${text.slice(0, index).split('\n').length}` });
}

const embed = await pipeline('feature-extraction', source);
const vectorsOf = async (texts) => {
  const vectors = await embed(texts, { pooling: 'mean', normalize: true });
  return vectors.tolist();
};
const size = 32; // texts per pass
const vectors = [];
for (let i = 0; i < paragraphs.length; i += size)
  vectors.push(...(await vectorsOf(paragraphs.slice(i, i + size).map(({ text }) => text))));
const [asked] = await vectorsOf([question]);
await embed.dispose();

const found = paragraphs.map((paragraph, i) => ({ ...paragraph, score: dot(asked, vectors[i]) }));
found.sort((a, b) => b.score - a.score);
for (const { score, where, text } of found.slice(0, 3)) console.log(`${score.toFixed(2)}  ${where}  ${text}`);
