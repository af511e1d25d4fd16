// From the command line to plans: which items, in which engine, with how many threads.

import { itemParts, items } from './items/index.js';
import type { Switch } from './machine.js';
import type { Engine, Item, Pace, Setting } from './types.js';

export const engines: readonly Engine[] = ['chromium', 'firefox', 'node', 'native'];
export const partNames = [...itemParts, 'roofline', 'native', 'firefox'];

/** Measured in Firefox as well. */
const firefoxParts = ['minilm', 'gpt2'];
const quickParts = ['matmul', 'minilm', 'gpt2'];
/** `--quick`: the models' items that a reader compares first, and one product. */
const quickItems = [
  'matmul-128x384x1536-fp32',
  'matmul-128x384x1536-q8',
  'minilm-1x128-fp32',
  'minilm-1x128-q8',
  'gpt2-prefill-128-fp32',
  'gpt2-prefill-128-q8',
  'gpt2-decode-128-fp32',
  'gpt2-decode-128-q8',
  'gpt2-decode-128-q4',
];

const isOperation = ({ part }: Item): boolean => part === 'matmul' || part === 'attention';
/** Also shown with two threads. */
const threadedItems = ['minilm-1x128-fp32', 'minilm-8x128-fp32', 'gpt2-prefill-128-fp32', 'vit-b16-fp32'];

/** Settings (engine, threads) of an item under one of the selected parts. */
function settingsOf(item: Item, part: string): (readonly [Engine, number])[] {
  if (part === 'native') return item.engines === undefined && item.part !== 'scaling' ? [['native', 1]] : [];
  if (part === 'firefox') return firefoxParts.includes(item.part) ? [['firefox', 1]] : [];
  if (part === 'scaling') {
    if (item.part === 'scaling') return [['chromium', 1]];
    return threadedItems.includes(item.id) ? [['chromium', 2]] : [];
  }
  if (part === 'roofline') return isOperation(item) ? settingsOf(item, item.part) : [];
  if (item.part !== part) return [];
  return isOperation(item) || item.part === 'see-through'
    ? [
        ['chromium', 1],
        ['node', 1],
      ]
    : [['chromium', 1]];
}

/** The choices of a command line. */
export interface Choice extends Pace {
  parts: readonly string[];
  engine?: Engine;
  threads?: number;
  /** Only items whose id contains this. */
  only?: string;
  /** Whether the results are kept. */
  keep: boolean;
  /** What is switched off. */
  without?: Switch;
}

export interface Plan extends Setting, Pace {
  keep: boolean;
  without?: Switch;
  /** Not pinned to cores. */
  free: boolean;
  items: Item[];
}

/** The plans for a command line: one per engine, number of threads and choice of cores. */
export function plansOf({ parts, engine, threads, only, quick, rounds, budget, keep, without }: Choice): Plan[] {
  const all = quick ? quickParts : [...itemParts, 'native', 'firefox'];
  const named = parts.length > 0 ? parts : all;
  const plans = new Map<string, Plan>();
  for (const part of named) {
    for (const item of items) {
      if (only && !item.id.includes(only)) continue;
      if (quick && !quickItems.includes(item.id)) continue;
      // An explicit engine or number of threads replaces the part's default; natively only "native" has items.
      for (const [ownEngine, ownThreads] of settingsOf(item, part)) {
        const setting = { engine: engine ?? ownEngine, threads: threads ?? ownThreads };
        if (item.engines && !item.engines.includes(setting.engine)) continue;
        if (quick && !engine && ownEngine === 'node') continue;
        // Only V8 has the switches.
        if (without && (setting.engine === 'native' || setting.engine === 'firefox')) continue;
        // A page starts in several processes, which would wait for each other on one core.
        const free = item.fresh === true;
        const key = `${setting.engine} ${setting.threads} ${free}`;
        const plan = plans.get(key) ?? {
          ...setting,
          rounds,
          budget,
          keep,
          free,
          items: [],
          ...(quick && { quick }),
          ...(without && { without }),
        };
        plans.set(key, plan);
        if (!plan.items.includes(item)) plan.items.push(item);
      }
    }
  }
  return [...plans.values()];
}
