// Deep links of chapter 12: the counts are exact.

import { type Complexity, complexity } from 'clearformer';
import type { Subject } from './subject.js';

const rows = (n: number, d: number, k: number): Promise<Complexity[]> =>
  Promise.all([
    complexity('self_attention', { sequence_length: n, d_model: d }),
    complexity('recurrent', { sequence_length: n, d_model: d }),
    complexity('convolutional', { sequence_length: n, d_model: d, kernel_size: k }),
    complexity('restricted_self_attention', { sequence_length: n, d_model: d, neighbourhood: 2 * k }),
  ]);

export const subjects: readonly Subject[] = [
  {
    subject: 'Complexity beside recurrent and convolutional layers',
    address: 'cost?view=work&n=256&d=64&k=3',
    source:
      'complexity(kind, { sequence_length: 256, d_model: 64, kernel_size: 3, neighbourhood: 6 }).multiply_adds / 1e6',
    at: [[0], [1], [2], [3]],
    expected: async () => (await rows(256, 64, 3)).map(({ multiply_adds }) => multiply_adds / 1e6),
  },
  {
    subject: 'Steps that wait for each other',
    address: 'cost?view=work&n=256&d=64&k=3',
    source:
      'complexity(kind, { sequence_length: 256, d_model: 64, kernel_size: 3, neighbourhood: 6 }).sequential_operations',
    at: [[0], [1], [2], [3]],
    expected: async () => (await rows(256, 64, 3)).map(({ sequential_operations }) => sequential_operations),
  },
  {
    subject: 'Path length',
    address: 'cost?view=path&n=512&d=64&k=5',
    source:
      'complexity(kind, { sequence_length: 512, d_model: 64, kernel_size: 5, neighbourhood: 10 }).maximum_path_length',
    at: [[0], [1], [2], [3]],
    expected: async () => (await rows(512, 64, 5)).map(({ maximum_path_length }) => maximum_path_length),
  },
];
