// Dropped files: folders are traversed completely, also if the browser returns their entries in batches.

import { expect, it } from 'vitest';
import { droppedFiles } from '../../../web/demo/chapters/own/dropped_files.js';

interface Entry {
  isFile: boolean;
  fullPath?: string;
  file?(done: (file: File) => void): void;
  createReader?(): { readEntries(done: (batch: Entry[]) => void): void };
}

const file = (path: string): Entry => ({
  isFile: true,
  fullPath: `/${path}`,
  file: (done) => done(new File([], path.split('/').at(-1) as string)),
});
const folder = (...batches: Entry[][]): Entry => ({
  isFile: false,
  createReader: () => ({ readEntries: (done) => done(batches.shift() ?? []) }),
});
const drop = (entries: (Entry | null)[], files: File[] = []): DataTransfer =>
  ({ items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })), files }) as unknown as DataTransfer;

it('walks folders in folders, batch by batch', async () => {
  const inner = folder([file('mine/weights/model.safetensors')]);
  const found = await droppedFiles(
    drop([folder([file('mine/config.json'), inner], [file('mine/tokenizer.json')]), file('more')]),
  );
  expect(found.map((one) => one.name)).toEqual(['config.json', 'model.safetensors', 'tokenizer.json', 'more']);
  expect(found.map((one) => one.webkitRelativePath)).toEqual([
    'mine/config.json',
    'mine/weights/model.safetensors',
    'mine/tokenizer.json',
    'more',
  ]);
});

it('takes plain files where there are no entries', async () => {
  const found = await droppedFiles(drop([null], [new File([], 'config.json')]));
  expect(found.map((one) => one.name)).toEqual(['config.json']);
});
