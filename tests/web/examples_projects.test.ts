// The projects of web/examples that install nothing else: their READMEs' commands, with a stand-in for the Hub.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CheckpointName, checkpointFolder } from '../../scripts/models/checkpoints.js';
import { Project } from '../examples/project.js';
import { Hub } from './support/hub.js';

/** Runs the project's commands while the Hub has this repository. */
async function follow(
  name: string,
  id: string,
  checkpoint: CheckpointName,
): Promise<{ project: Project; out: string }> {
  const folder = checkpointFolder(checkpoint);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((each) => /\.\w+$/.test(each));
  const bytes = names.map((each) => [each, new Uint8Array(readFileSync(join(folder, each)))] as const);
  const hub = await Hub.start(Object.fromEntries(bytes), id);
  try {
    const project = await Project.create(name, { HF_ENDPOINT: hub.url, npm_config_offline: 'true' });
    return { project, out: await project.follow() };
  } finally {
    await hub.stop();
  }
}

it('search_notes finds what is meant, not what has the same words', async () => {
  const { out } = await follow('search_notes', 'sentence-transformers/all-MiniLM-L6-v2', 'all-MiniLM-L6-v2');
  const lines = out.split('\n').filter((line) => /^-?\d\.\d\d {2}/.test(line));
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^0\.\d\d {2}kitchen\.md:3 {2}The dough wants a night in the fridge/);
});

it('transcribe writes subtitles', async () => {
  const { project } = await follow('transcribe', 'openai/whisper-tiny', 'whisper-tiny');
  const subtitles = readFileSync(join(project.folder, 'speech.vtt'), 'utf8');
  expect(subtitles).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:\d\d\.\d{3}\nAnd so,? my fellow Americans/);
  expect(subtitles).toContain('what you can do for your country.');
});
