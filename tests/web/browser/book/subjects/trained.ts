// Deep links whose numbers are PyTorch's: what transformers computes with the page's own models.

import { fixturePath, readReferences } from '../../../support/references.js';
import type { Subject } from './subject.js';

/** Numbers of a committed reference. */
function reference(file: string, name: string): (...at: number[]) => number {
  const found = readReferences(fixturePath(file)).get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`no reference ${name} in ${file}`);
  const { data, dims } = found;
  return (...at) => data[at.reduce((flat, index, axis) => flat * (dims[axis] ?? 0) + index, 0)] ?? Number.NaN;
}

const digit = (name: string) => reference('page_models/digit.safetensors', name);
const translation = (name: string) => reference('page_models/translation.safetensors', `translation.${name}`);

/** Softmax of a row of reference logits, its three largest. */
function best(logits: (...at: number[]) => number, row: readonly number[], words: number): number[] {
  const powers = Array.from({ length: words }, (_, id) => Math.exp(logits(...row, id)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers
    .map((power) => power / sum)
    .sort((one, other) => other - one)
    .slice(0, 3);
}

const three = [[0], [1], [2]] as const;
// Both sides compute in single precision; the references' own error is at most 1e-6 (cases.json), the library's about
// as much.
const tolerance = 1e-5;
const encoderWords = 4000;

export const subjects: readonly Subject[] = [
  {
    subject: 'PyTorch: class scores of a picture',
    address: 'seeing?d=s5',
    source: 'softmax(logits)',
    at: [[5], [6], [0], [9]],
    async expected() {
      const odds = digit('digit.probabilities');
      return [odds(0, 5), odds(0, 6), odds(0, 0), odds(0, 9)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: class scores with two patches hidden',
    address: 'seeing?step=7&hide=11.12',
    source: 'softmax(logits)',
    at: [[5], [6], [0]],
    async expected() {
      const odds = digit('hidden.probabilities');
      return [odds(0, 5), odds(0, 6), odds(0, 0)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: patch projection',
    address: 'seeing?step=2&k=11',
    source: 'hook_embed[0, 1:, 11]',
    at: [
      [0, 0],
      [1, 4],
      [2, 3],
      [5, 3],
    ],
    async expected() {
      const patches = digit('digit.patches');
      return [patches(0, 0, 11), patches(0, 11, 11), patches(0, 17, 11), patches(0, 38, 11)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: class token, patches and learned positions',
    address: 'seeing?step=3',
    source: 'hook_full_embed[0]',
    at: [
      [0, 0],
      [18, 5],
      [49, 95],
    ],
    async expected() {
      const full = digit('digit.full');
      return [full(0, 0, 0), full(0, 18, 5), full(0, 49, 95)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: likeness of learned positions',
    address: 'seeing?step=4&p=24',
    source: 'matmul(p, pᵀ)[24]',
    at: [
      [3, 2],
      [3, 4],
      [0, 0],
    ],
    async expected() {
      const likeness = digit('digit.likeness');
      return [likeness(24, 23), likeness(24, 25), likeness(24, 0)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: attention of the class token',
    address: 'seeing?step=5&l=3&h=1',
    source: 'blocks.3.attn.hook_pattern[0, 1, 0, 1:]',
    at: [
      [3, 2],
      [0, 0],
      [1, 5],
    ],
    async expected() {
      const attention = digit('digit.attention');
      return [attention(0, 1, 0, 24), attention(0, 1, 0, 1), attention(0, 1, 0, 13)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: attention rollout',
    address: 'seeing?step=6',
    source: 'attentionRollout(cache)[3, 0, 0, 1:]',
    at: [
      [1, 5],
      [3, 2],
      [6, 6],
    ],
    async expected() {
      const rollout = digit('digit.rollout');
      return [rollout(0, 13), rollout(0, 24), rollout(0, 49)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: cross-attention',
    address: 'translate?step=4&l=2&h=3',
    source: 'decoder.2.cross_attn.hook_pattern[0, 3, :, :]',
    at: [
      [0, 1],
      [1, 1],
      [2, 3],
      [6, 7],
    ],
    async expected() {
      const weights = translation('cross_attention');
      return [weights(0, 3, 0, 1), weights(0, 3, 1, 1), weights(0, 3, 2, 3), weights(0, 3, 6, 7)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: what the encoder leaves',
    address: 'translate?step=1&l=2&h=0',
    source: 'encoder.2.hook_normalized_resid_post[0, :]',
    at: [
      [0, 0],
      [4, 17],
      [9, 127],
    ],
    async expected() {
      const memory = translation('memory');
      return [memory(0, 0, 0), memory(0, 4, 17), memory(0, 9, 127)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: the next token of a translation',
    address: 'translate?step=2&s=2',
    source: 'softmax(logits[0, 2])',
    at: three,
    async expected() {
      const odds = translation('best');
      return [odds(0, 2, 0), odds(0, 2, 1), odds(0, 2, 2)];
    },
    tolerance,
    reference: true,
  },
  {
    subject: 'PyTorch: a blank filled from both sides',
    address: 'kinds?step=4&t=She+took+her+hat+off.&w=2',
    source: 'softmax(bert-tiny-fill("She took [MASK] hat off.").logits[0, 3])',
    at: three,
    expected: async () => best(reference('bert_tiny_fill/inside.safetensors', 'inside.logits'), [0, 3], encoderWords),
    tolerance,
    reference: true,
  },
];
