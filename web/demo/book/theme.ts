// The colour scheme: the system's until the reader chooses one, which is stored, and where the system forces colours.
// Dispatches 'change'.

type Theme = 'light' | 'dark';

const storageKey = 'clearformer-theme';
const darkPreference = matchMedia('(prefers-color-scheme: dark)');
const forcedColours = matchMedia('(forced-colors: active)');

class ThemeState extends EventTarget {
  #chosen: string | undefined;
  #onPaper = false;

  /** Whether the reader can choose. */
  get isFree(): boolean {
    return !forcedColours.matches;
  }

  get current(): Theme {
    const chosen = document.documentElement.dataset.theme;
    if (chosen === 'light' || chosen === 'dark') return chosen;
    return darkPreference.matches ? 'dark' : 'light';
  }

  toggle(): void {
    this.#chosen = this.current === 'dark' ? 'light' : 'dark';
    keep(storageKey, this.#chosen);
    this.#apply();
  }

  /** While the page is printed it is light, whatever the reader chooses or the system forces meanwhile. */
  set onPaper(isPrinted: boolean) {
    this.#onPaper = isPrinted;
    this.#apply();
  }

  restore(): void {
    this.#chosen = kept(storageKey);
    this.#apply();
    forcedColours.addEventListener('change', this.#apply);
    darkPreference.addEventListener('change', () => this.dispatchEvent(new Event('change')));
  }

  #apply = (): void => {
    const { dataset } = document.documentElement;
    const chosen = this.isFree ? this.#chosen : undefined;
    const theme = this.#onPaper ? 'light' : chosen;
    if (theme === 'light' || theme === 'dark') dataset.theme = theme;
    else delete dataset.theme;
    this.dispatchEvent(new Event('change'));
  };
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
