// The page's state is its address: `#/head?step=2&q=6&t=Lily…`. The reader's choices are stored only there, so that a
// link, a reload and Back restore the same numbers. Dispatches 'change'.

/** Changes of parameters; undefined removes one. */
export type Changes = Readonly<Record<string, string | undefined>>;
/**
 * `push`: a choice with a history entry of its own, which Back undoes. `replace`: an intermediate value of a drag or
 * slider.
 */
type Manner = 'push' | 'replace';

/** Parameters shared by all chapters; the others belong to the chapter they were chosen in. */
const shared = ['t', 'q', 'm', 'lang', 'class', 'embed'];

/** The state of the history's entries that were shown; those of new links have none. */
const seen = 'seen';

interface Place {
  chapter: string;
  params: URLSearchParams;
}

export class Address extends EventTarget {
  #place: Place = placeOf(location.hash);
  readonly #past: string[] = [];
  readonly #future: string[] = [];
  /** The parameters each chapter was left with. */
  readonly #left = new Map<string, URLSearchParams>();

  constructor() {
    super();
    history.replaceState(seen, '');
    addEventListener('hashchange', () => this.#arrive(location.hash));
    addEventListener('popstate', () => this.#arrive(location.hash));
  }

  /** The chapter's id in the address; empty for none. */
  get chapter(): string {
    return this.#place.chapter;
  }

  /** The parameters that belong to the chapter alone, but for its step. */
  get chosen(): string[] {
    return [...this.#place.params.keys()].filter((key) => key !== 'step' && !shared.includes(key));
  }

  get(key: string): string | undefined {
    return this.#place.params.get(key) ?? undefined;
  }

  set(changes: Changes, manner: Manner): void {
    this.#move({ chapter: this.chapter, params: changed(this.#place.params, changes) }, manner);
  }

  /** Opens a chapter with the link's parameters, or with those it was left with; the shared parameters are kept. */
  go(chapter: string, changes: Changes = {}): void {
    this.#move({ chapter, params: this.#paramsFor(chapter, changes) }, 'push');
  }

  /** The address of a chapter as `href` of a link. */
  href(chapter: string, changes: Changes = {}): string {
    return hashOf({ chapter, params: this.#paramsFor(chapter, changes) });
  }

  /** The absolute URL of the page in this state. */
  link(changes: Changes = {}): string {
    const hash = hashOf({ chapter: this.chapter, params: changed(this.#place.params, changes) });
    return new URL(hash, location.href).href;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  undo(): void {
    const hash = this.#past.pop();
    if (hash === undefined) return;
    this.#future.push(hashOf(this.#place));
    this.#show(hash);
  }

  redo(): void {
    const hash = this.#future.pop();
    if (hash === undefined) return;
    this.#past.push(hashOf(this.#place));
    this.#show(hash);
  }

  #paramsFor(chapter: string, changes: Changes): URLSearchParams {
    const kept = new URLSearchParams(chapter === this.chapter ? this.#place.params : this.#left.get(chapter));
    for (const key of shared) {
      const value = this.get(key);
      if (value === undefined) kept.delete(key);
      else kept.set(key, value);
    }
    return changed(kept, changes);
  }

  #move(next: Place, manner: Manner): void {
    const [from, to] = [hashOf(this.#place), hashOf(next)];
    if (from === to) return;
    if (manner === 'push') {
      this.#remember(from);
      history.pushState(seen, '', to);
    } else {
      history.replaceState(seen, '', to);
    }
    this.#settle(next);
  }

  #remember(hash: string): void {
    this.#past.push(hash);
    this.#future.length = 0;
  }

  #show(hash: string): void {
    history.replaceState(seen, '', hash);
    this.#settle(placeOf(hash));
  }

  /** A link is a choice like others; the browser's Back and Forward move along the choices as undo and redo do. */
  #arrive(hash: string): void {
    const next = placeOf(hash);
    const [from, to] = [hashOf(this.#place), hashOf(next)];
    const chosen = history.state !== seen;
    if (chosen) history.replaceState(seen, '');
    if (from === to) return;
    if (chosen) {
      this.#remember(from);
    } else {
      const [left, other] = this.#future.includes(to) ? [this.#future, this.#past] : [this.#past, this.#future];
      const passed = left.splice(left.includes(to) ? left.lastIndexOf(to) : left.length); // unknown after a reload
      other.push(from, ...passed.slice(1).reverse());
    }
    this.#settle(next);
  }

  #settle(next: Place): void {
    this.#left.set(this.chapter, this.#place.params);
    this.#place = next;
    this.dispatchEvent(new Event('change'));
  }
}

/** `head?step=2`: what is before the first question mark and after it; there may be more of them in a text. */
export function splitTarget(target: string): { path: string; query: string } {
  const [path = ''] = target.split('?', 1);
  return { path, query: target.slice(path.length + 1) };
}

function placeOf(hash: string): Place {
  const { path, query } = splitTarget(hash.replace(/^#\/?/, ''));
  return { chapter: path, params: new URLSearchParams(query) };
}

function hashOf({ chapter, params }: Place): string {
  const query = params
    .toString()
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');
  return `#/${chapter}${query === '' ? '' : `?${query}`}`;
}

function changed(params: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(key);
    else next.set(key, value);
  }
  return next;
}
