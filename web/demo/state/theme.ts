// Dark or light: the system's choice until the reader makes one, which is remembered.
import type { Theme } from './colour-scale.js';

const kKey = 'clearformer-theme';
const kDark = matchMedia('(prefers-color-scheme: dark)');

class ThemeState extends EventTarget {
  get current(): Theme {
    const chosen = document.documentElement.dataset.theme;
    if (chosen === 'light' || chosen === 'dark') return chosen;
    return kDark.matches ? 'dark' : 'light';
  }

  toggle(): void {
    const next: Theme = this.current === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(kKey, next);
    } catch {
      // Storage is closed to the page: the choice lasts until it is left.
    }
    this.dispatchEvent(new Event('change'));
  }

  restore(): void {
    try {
      const kept = localStorage.getItem(kKey);
      if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
    } catch {
      // As above.
    }
    kDark.addEventListener('change', () => this.dispatchEvent(new Event('change')));
  }
}

export const theme = new ThemeState();
