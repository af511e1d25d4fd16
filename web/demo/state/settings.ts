// What the reader can set for a story, and the bounds of each number.

export interface StorySettings {
  prompt: string;
  /** false: always the likeliest token. */
  do_sample: boolean;
  temperature: number;
  /** 0: no limit. */
  top_k: number;
  top_p: number;
  seed: number;
  max_new_tokens: number;
  /** Tokens shown a second; 0: as fast as the model writes. */
  pace: number;
}

export const defaultSettings: Readonly<StorySettings> = {
  prompt: 'Once upon a time, there was a little dog',
  do_sample: true,
  temperature: 0.8,
  top_k: 40,
  top_p: 0.95,
  seed: 7,
  max_new_tokens: 90,
  pace: 8,
};

export interface Bounds {
  min: number;
  max: number;
  step: number;
}

export const settingBounds = {
  temperature: { min: 0.1, max: 2, step: 0.05 },
  top_k: { min: 0, max: 1000, step: 1 },
  top_p: { min: 0.05, max: 1, step: 0.05 },
  seed: { min: 0, max: 2 ** 32 - 1, step: 1 },
  max_new_tokens: { min: 1, max: 4096, step: 1 },
} as const satisfies Record<string, Bounds>;

export type BoundedName = keyof typeof settingBounds;

/** The number nearest to `value` inside the bounds; `fallback` when it is no number. Integers stay integers. */
export function withinBounds(name: BoundedName, value: number, fallback: number): number {
  if (!Number.isFinite(value)) return fallback;
  const { min, max, step } = settingBounds[name];
  const inside = Math.min(max, Math.max(min, value));
  return step === 1 ? Math.round(inside) : inside;
}
