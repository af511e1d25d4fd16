// The colour scheme: the system's until the reader chooses one, which is stored. Dispatches 'change'.

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

/** Stores a choice if the browser allows it. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // No access to storage: the choice lasts until the page is closed.
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
