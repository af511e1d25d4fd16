// The table of chapters, each a dynamic import.

import type { Chapter, ChapterId, ChapterWords } from './chapter.js';

export type Language = 'en' | 'de';

export interface ChapterFiles {
  readonly id: ChapterId;
  chapter(): Promise<{ chapter: Chapter }>;
  readonly words: Readonly<Record<Language, () => Promise<{ words: ChapterWords }>>>;
}

export const chapters: readonly ChapterFiles[] = [
  {
    id: 'next',
    chapter: () => import('../chapters/next/chapter.js'),
    words: { en: () => import('../words/en/next.js'), de: () => import('../words/de/next.js') },
  },
  {
    id: 'vectors',
    chapter: () => import('../chapters/vectors/chapter.js'),
    words: { en: () => import('../words/en/vectors.js'), de: () => import('../words/de/vectors.js') },
  },
  {
    id: 'set',
    chapter: () => import('../chapters/set/chapter.js'),
    words: { en: () => import('../words/en/set.js'), de: () => import('../words/de/set.js') },
  },
  {
    id: 'where',
    chapter: () => import('../chapters/where/chapter.js'),
    words: { en: () => import('../words/en/where.js'), de: () => import('../words/de/where.js') },
  },
  {
    id: 'head',
    chapter: () => import('../chapters/head/chapter.js'),
    words: { en: () => import('../words/en/head.js'), de: () => import('../words/de/head.js') },
  },
  {
    id: 'masks',
    chapter: () => import('../chapters/masks/chapter.js'),
    words: { en: () => import('../words/en/masks.js'), de: () => import('../words/de/masks.js') },
  },
  {
    id: 'heads',
    chapter: () => import('../chapters/heads/chapter.js'),
    words: { en: () => import('../words/en/heads.js'), de: () => import('../words/de/heads.js') },
  },
  {
    id: 'block',
    chapter: () => import('../chapters/block/chapter.js'),
    words: { en: () => import('../words/en/block.js'), de: () => import('../words/de/block.js') },
  },
  {
    id: 'saying',
    chapter: () => import('../chapters/saying/chapter.js'),
    words: { en: () => import('../words/en/saying.js'), de: () => import('../words/de/saying.js') },
  },
  {
    id: 'translate',
    chapter: () => import('../chapters/translate/chapter.js'),
    words: { en: () => import('../words/en/translate.js'), de: () => import('../words/de/translate.js') },
  },
  {
    id: 'kinds',
    chapter: () => import('../chapters/kinds/chapter.js'),
    words: { en: () => import('../words/en/kinds.js'), de: () => import('../words/de/kinds.js') },
  },
  {
    id: 'seeing',
    chapter: () => import('../chapters/seeing/chapter.js'),
    words: { en: () => import('../words/en/seeing.js'), de: () => import('../words/de/seeing.js') },
  },
  {
    id: 'cost',
    chapter: () => import('../chapters/cost/chapter.js'),
    words: { en: () => import('../words/en/cost.js'), de: () => import('../words/de/cost.js') },
  },
  {
    id: 'laboratory',
    chapter: () => import('../chapters/laboratory/chapter.js'),
    words: { en: () => import('../words/en/laboratory.js'), de: () => import('../words/de/laboratory.js') },
  },
  {
    id: 'own',
    chapter: () => import('../chapters/own/chapter.js'),
    words: { en: () => import('../words/en/own.js'), de: () => import('../words/de/own.js') },
  },
];
