// What a chapter is: its steps, their defaults, its questions, and the custom element that draws its figure.

import type { Book } from './book.js';

export const chapterIds = [
  'next',
  'vectors',
  'set',
  'where',
  'head',
  'masks',
  'heads',
  'block',
  'saying',
  'translate',
  'kinds',
  'seeing',
  'cost',
  'laboratory',
  'own',
] as const;
export type ChapterId = (typeof chapterIds)[number];

/** Values of keys of the address where the reader has chosen none. */
export type Defaults = Readonly<Record<string, string>>;

export interface Step {
  readonly id: string;
  /** What the figure shows at this step unless the reader has chosen otherwise. */
  readonly defaults?: Defaults;
  /** In class mode the answer stays hidden until the class has guessed. */
  readonly predict?: true;
}

/** What came of a check, with the computed values that the verdict's text names. */
export interface Verdict {
  readonly right: boolean;
  readonly values: Readonly<Record<string, string>>;
}

export interface Question {
  readonly id: string;
  /** A number to type, a choice among computed options, or a state to bring the figure into. */
  readonly kind: 'number' | 'choice' | 'state';
  options?(book: Book): Promise<readonly string[]>;
  /** Computes whether the answer is right; of a `state` the answer is the address. */
  check(book: Book, answer: string): Promise<Verdict>;
}

export interface Chapter {
  readonly id: ChapterId;
  /** Prose beside a figure that stays, a wide figure over its steps, or a first screen of its own. */
  readonly layout: 'beside' | 'wide' | 'home';
  /** The custom element of its figure, a `Figure`. */
  readonly tag: string;
  readonly defaults: Defaults;
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  /**
   * The figure has a model of its own: the edge shows what that reads (`spineInputs`), nothing before, and no other model is
   * loaded for the sentence at the top. By default both show the sentence as the model of the address reads it.
   */
  readonly spine?: 'figure';
}

/** The strings of a step, in markup (see markup.ts). */
export interface StepWords {
  title: string;
  text: string;
  /** Asked in class mode before the text is shown. */
  ask?: string;
}

export interface QuestionWords {
  ask: string;
  right: string;
  wrong: string;
}

/** All strings of a chapter in one language. */
export interface ChapterWords {
  title: string;
  lead: string;
  steps: Record<string, StepWords>;
  questions: Record<string, QuestionWords>;
  /** Whatever its figure says. */
  labels: Record<string, string>;
}
