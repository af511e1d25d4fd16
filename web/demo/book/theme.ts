// Dark or light: the system's choice until the reader makes one, which is remembered. Dispatches 'change'.

type Theme = 'light' | 'dark';

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
    keep(storageKey, next);
    this.dispatchEvent(new Event('change'));
  }

  restore(): void {
    const chosen = kept(storageKey);
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
    darkPreference.addEventListener('change', () => this.dispatchEvent(new Event('change')));
  }
}

/** Remembers a choice where the browser lets the page. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is closed to the page: the choice lasts until it is left.
  }
}

export function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export const theme = new ThemeState();
