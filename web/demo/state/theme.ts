// Dark or light: the system's choice until the reader makes one, which is remembered.

import type { Theme } from './colour_scale.js';

const storageKey = 'clearformer-theme';
const darkPreference = matchMedia('(prefers-color-scheme: dark)');

class ThemeState extends EventTarget {
  get current(): Theme {
    const chosen = document.documentElement.dataset.theme;
    if (chosen === 'light' || chosen === 'dark') return chosen;
    return darkPreference.matches ? 'dark' : 'light';
  }

  toggle(): void {
    const next: Theme = this.current === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(storageKey, next);
    } catch {
      // Storage is closed to the page: the choice lasts until it is left.
    }
    this.dispatchEvent(new Event('change'));
  }

  restore(): void {
    try {
      const kept = localStorage.getItem(storageKey);
      if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
    } catch {
      // As above.
    }
    darkPreference.addEventListener('change', () => this.dispatchEvent(new Event('change')));
  }
}

export const theme = new ThemeState();
