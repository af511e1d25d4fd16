// The measured models: the shapes of well-known checkpoints, with random weights.

import type { ModelName, Shape } from '../types.js';

/** Sizes that a family does not have are 0. */
const none = { vocabulary: 0, positions: 0, image: 0, patch: 0, labels: 0 };

const gpt2 = {
  family: 'gpt2',
  layers: 12,
  d: 768,
  heads: 12,
  hidden: 3072,
  vocabulary: 50257,
  positions: 1024,
} as const;

export const shapes: Readonly<Record<ModelName, Shape>> = {
  'bert-2x128': {
    ...none,
    family: 'bert',
    layers: 2,
    d: 128,
    heads: 2,
    hidden: 512,
    vocabulary: 30522,
    positions: 512,
  },
  'bert-4x256': {
    ...none,
    family: 'bert',
    layers: 4,
    d: 256,
    heads: 4,
    hidden: 1024,
    vocabulary: 30522,
    positions: 512,
  },
  minilm: { ...none, family: 'bert', layers: 6, d: 384, heads: 12, hidden: 1536, vocabulary: 30522, positions: 512 },
  'bert-12x768': {
    ...none,
    family: 'bert',
    layers: 12,
    d: 768,
    heads: 12,
    hidden: 3072,
    vocabulary: 30522,
    positions: 512,
  },
  'gpt2-tiny': { ...none, family: 'gpt2', layers: 5, d: 64, heads: 8, hidden: 176, vocabulary: 512, positions: 512 },
  /** 101 MB in float32. */
  'gpt2-100mb': {
    ...none,
    family: 'gpt2',
    layers: 6,
    d: 512,
    heads: 8,
    hidden: 2048,
    vocabulary: 12000,
    positions: 512,
  },
  gpt2: { ...none, ...gpt2 },
  'gpt2-long': { ...none, ...gpt2, positions: 2048 },
  'vit-b16': {
    ...none,
    family: 'vit',
    layers: 12,
    d: 768,
    heads: 12,
    hidden: 3072,
    image: 224,
    patch: 16,
    labels: 1000,
  },
};

export const epsilons: Readonly<Record<Shape['family'], number>> = { bert: 1e-12, gpt2: 1e-5, vit: 1e-12 };
