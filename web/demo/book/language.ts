// The language of the page: that of the address, else the stored choice, else the browser's.

import type { Language } from './chapters.js';
import { keep, kept } from './theme.js';

const storageKey = 'clearformer-language';

/** `asked` is the one in the address. */
export const languageFor = (asked: string | undefined): Language =>
  (asked ?? kept(storageKey) ?? navigator.language).startsWith('de') ? 'de' : 'en';

export const keepLanguage = (language: Language): void => keep(storageKey, language);
