// The table of chapters: what each is made of, fetched when it is opened.

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
    id: 'cost',
    chapter: () => import('../chapters/cost/chapter.js'),
    words: { en: () => import('../words/en/cost.js'), de: () => import('../words/de/cost.js') },
  },
];
