// The types of a chapter: its steps, their defaults, its questions, and the custom element of its figure.

import type { Address } from './address.js';
import type { Book } from './book.js';
import { within } from './within.js';

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

/** The chapter that an address opens by this name: the first for an unknown one. */
export const chapterAt = (name: string): ChapterId => chapterIds.find((id) => id === name) ?? 'next';

/** Whether an address is this chapter's: while another is loading, the one that is shown is not the address's. */
export const isAt = (chapter: { readonly id: ChapterId }, { chapter: name }: { readonly chapter: string }): boolean =>
  chapterAt(name) === chapter.id;

/** Default values of the address's parameters. */
export type Defaults = Readonly<Record<string, string>>;

export interface Step {
  readonly id: string;
  /** Default values at this step. */
  readonly defaults?: Defaults;
  /** In class mode the answer is hidden until the class has guessed. */
  readonly predict?: true;
}

/** The result of a check, with the computed values that the verdict's text names. */
export interface Verdict {
  readonly right: boolean;
  readonly values: Readonly<Record<string, string>>;
}

export interface Question {
  readonly id: string;
  /** A number to type, a choice among computed options, or a state of the figure to reach. */
  readonly kind: 'number' | 'choice' | 'state';
  options?(book: Book): Promise<readonly string[]>;
  /** Computes whether the answer is right; the answer of a `state` is the address. */
  check(book: Book, answer: string): Promise<Verdict>;
}

export interface Chapter {
  readonly id: ChapterId;
  /** Prose beside a sticky figure, a wide figure above its steps, or the home screen. */
  readonly layout: 'beside' | 'wide' | 'home';
  /** The custom element of its figure, a `Figure`. */
  readonly tag: string;
  readonly defaults: Defaults;
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  /** The variant of its texts at an address, a key of `variants` of its words. */
  variant?(address: Address): string | undefined;
  /**
   * The figure has its own model: the margin shows that model's inputs (`spineInputs`), empty until they are known, and
   * no other model is loaded for the sentence in the header. By default both show the sentence as read by the address's
   * model.
   */
  readonly spine?: 'figure';
  /** Nothing in it reads the reader's sentence, which is not shown then. */
  readonly textless?: true;
}

/** The index of the step in the address, clamped to the chapter's steps. */
export function stepIndexAt({ steps }: Chapter, address: Address): number {
  return within(Number(address.get('step') ?? 0), steps.length);
}

/** A parameter of the address, else its default at the step, else that of the chapter. */
export function valueAt(
  chapter: Chapter,
  address: Address,
  key: string,
  step = chapter.steps[stepIndexAt(chapter, address)],
): string {
  return address.get(key) ?? step?.defaults?.[key] ?? chapter.defaults[key] ?? '';
}

/** The strings of a step, as markup (see markup.ts). */
export interface StepWords {
  title: string;
  text: string;
  /** The question that class mode shows before the text. */
  ask?: string;
}

export interface QuestionWords {
  ask: string;
  right: string;
  wrong: string;
}

interface WordsVariant {
  lead?: string;
  steps?: Record<string, StepWords>;
  labels?: Record<string, string>;
}

/** All strings of a chapter in one language. */
export interface ChapterWords {
  title: string;
  lead: string;
  steps: Record<string, StepWords>;
  questions: Record<string, QuestionWords>;
  /** Texts that differ in a variant of the chapter; a step's as a whole. */
  variants?: Record<string, WordsVariant>;
  /** The labels of its figure. */
  labels: Record<string, string>;
}

/** The strings of a chapter in the variant at an address. */
export function wordsAt(chapter: Chapter, words: ChapterWords, address: Address): ChapterWords {
  const variant = words.variants?.[chapter.variant?.(address) ?? ''];
  if (!variant) return words;
  const steps = { ...words.steps, ...variant.steps };
  return { ...words, ...variant, steps, labels: { ...words.labels, ...variant.labels } };
}
