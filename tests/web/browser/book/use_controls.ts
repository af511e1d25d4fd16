// Functions that the tests of all controls run inside the page: listing controls, using one as a reader does, and using
// all. They are serialised for the browser and use nothing from outside but `window.hand`.

import { figureSettled, turnTo } from '../site.js';
import { brokenLooksNow, drawnTextNow } from './reader.js';

export interface Control {
  /** Identifies it after the page is redrawn. */
  readonly key: string;
  readonly kind: string;
}

/** The controls of a step; with EVERY_CONTROL=1 those of each group that has a name of its own. */
export const inStep: Listing = {
  parts: ['main .figure > *', '.step.on .prose'],
  most: 3,
  merged: process.env.EVERY_CONTROL !== '1',
};

/**
 * Complaints that controls cause: a model is requested from the Hub by name, which is not available; a file dialog needs
 * a reader's own click.
 */
export const isExpected = (complaint: string): boolean =>
  /request to elsewhere: https:\/\/huggingface\.co|net::ERR_|File chooser dialog/.test(complaint);

/** The functions inside the page. */
const hand = {
  turnTo,
  figureSettled,
  controlsNow,
  useControl,
  useFrom,
  useAll,
  brokenLooks: brokenLooksNow,
  drawnText: drawnTextNow,
};

/** Sets `window.hand`. */
export const handScript = `window.hand = { ${Object.entries(hand).map(([name, work]) => `${name}: ${work}`)} }; undefined`;

declare global {
  interface Window {
    hand: typeof hand;
    /** Elements by key, as last found by `controlsNow`. */
    controlsByKey: Map<string, HTMLElement>;
  }
}

/**
 * The controls of the open step with a name of their own: those of its figure, of its prose and, on request, of the
 * questions and the bar. Of a group of more than `most` equal ones, such as the cells of a picture, the first, the
 * middle and the last. `merged`: groups whose names differ in numbers, such as the matrices of all heads, are one.
 */
export function controlsNow({ parts, most, merged }: Listing): Control[] {
  const roles =
    'a[href], button, input, select, textarea, summary, [role=button], [role=grid], [role=listbox], [role=application], [role=slider]';
  const within = (root: Element | ShadowRoot): HTMLElement[] =>
    [...root.querySelectorAll<HTMLElement>('*')].flatMap((element) => [
      ...(element.matches(roles) ? [element] : []),
      ...(element.shadowRoot ? within(element.shadowRoot) : []),
    ]);
  const nameOf = (element: HTMLElement): string => {
    const label = (element as HTMLInputElement).labels?.[0]?.textContent;
    return (element.getAttribute('aria-label') ?? label ?? element.title ?? '') || (element.textContent ?? '');
  };
  const kindOf = (element: HTMLElement): string =>
    element.getAttribute('role') ?? (element instanceof HTMLInputElement ? element.type : element.localName);
  const groups = new Map<string, HTMLElement[]>();
  for (const part of parts) {
    for (const root of document.querySelectorAll(part)) {
      for (const element of [...within(root), ...(root.shadowRoot ? within(root.shadowRoot) : [])]) {
        if (element.checkVisibility() === false || element.matches(':disabled')) continue;
        const named = element.closest('[role=group], [role=list], ul, svg')?.getAttribute('aria-label') ?? part;
        const group = merged ? named.replace(/\d+/g, 'n') : named;
        const host = (element.getRootNode() as ShadowRoot).host?.localName ?? '';
        const key = [host, group, kindOf(element)].join(' / ');
        groups.set(key, [...(groups.get(key) ?? []), element]);
      }
    }
  }
  window.controlsByKey = new Map();
  const found: Control[] = [];
  for (const [group, members] of groups) {
    const all = members.length > most ? [members[0], members[members.length >> 1], members.at(-1)] : members;
    for (const element of all) {
      if (!element) continue;
      const name = nameOf(element).replace(/\s+/g, ' ').trim().slice(0, 60);
      let key = `${group} / ${name}`;
      while (window.controlsByKey.has(key)) key += '′';
      window.controlsByKey.set(key, element);
      found.push({ key, kind: kindOf(element) });
    }
  }
  return found;
}

/**
 * Uses a control once: presses it, toggles it, moves it by one, selects another option, or appends one letter. False if
 * it does not exist.
 */
export function useControl({ key, kind }: Control): boolean {
  const element = window.controlsByKey.get(key);
  if (!element) return false;
  const told = (...types: string[]): void => {
    for (const type of types) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  };
  const press = (...names: string[]): void => {
    for (const name of names)
      element.dispatchEvent(
        new KeyboardEvent('keydown', { key: name, bubbles: true, composed: true, cancelable: true }),
      );
  };
  if (element instanceof HTMLSelectElement) {
    element.selectedIndex = (element.selectedIndex + 1) % element.options.length;
    told('input', 'change');
  } else if (kind === 'range' || kind === 'number') {
    const field = element as HTMLInputElement;
    const [low, high] = [Number(field.min || -1), Number(field.max || 1e9)];
    const step = Number(field.step) || 1;
    const value = Number(field.value);
    field.value = String(value + step <= high ? value + step : Math.max(low, value - step));
    told('input', 'change');
  } else if (['text', 'search', 'textarea'].includes(kind)) {
    const field = element as HTMLInputElement;
    const options = [...(field.list?.options ?? [])].map(({ value }) => value).filter((value) => value !== field.value);
    field.value = options[0] ?? `${field.value}${field.value.at(-1) ?? 'A'}`;
    told('input', 'change');
  } else if (kind === 'grid' || kind === 'listbox' || kind === 'application' || kind === 'slider') {
    element.focus();
    press('ArrowRight', 'Enter', 'Escape');
  } else if (element instanceof HTMLElement) {
    element.click();
  } else {
    (element as Element).dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true, cancelable: true }));
  }
  return true;
}

export interface Listing {
  /** Selectors of the parts of the page. */
  readonly parts: readonly string[];
  readonly most: number;
  readonly merged: boolean;
}

/** Uses a control at the address `from` and returns the resulting address; undefined if there is no such control. */
export async function useFrom(control: Control, from: string, listing: Listing): Promise<string | undefined> {
  const { hand } = window;
  await hand.turnTo(`#/${from}`);
  await hand.figureSettled();
  hand.controlsNow(listing);
  if (!hand.useControl(control)) return undefined;
  let to = '';
  do {
    to = location.hash;
    await hand.figureSettled(); // generation changes the address repeatedly
  } while (location.hash !== to);
  return to.slice(2);
}

/**
 * Uses every control at each address, except those of the keys `known`, each from the address itself. Returns the keys
 * of those used, and what was found.
 */
export async function useAll(
  addresses: readonly string[],
  known: readonly string[],
  listing: Listing,
): Promise<{ used: string[]; faults: string[] }> {
  const { hand } = window;
  const [seen, used, faults] = [new Set(known), [] as string[], [] as string[]];
  /** Opens a figure without any earlier state. */
  const openAnew = async (address: string): Promise<void> => {
    for (const to of [address.startsWith('own') ? 'cost' : 'own', address]) {
      await hand.turnTo(`#/${to}`);
      await hand.figureSettled();
    }
  };
  for (const from of addresses) {
    await openAnew(from);
    for (const control of hand.controlsNow(listing)) {
      if (seen.has(control.key)) continue;
      seen.add(control.key);
      let to = await hand.useFrom(control, from, listing);
      if (to === undefined) {
        await openAnew(from);
        to = await hand.useFrom(control, from, listing);
      }
      if (to === undefined) faults.push(`${from}: ${control.key} is not there again`);
      else used.push(control.key);
      faults.push(...hand.brokenLooks().map((fault) => `${from}: ${control.key}: ${fault} (${to})`));
    }
  }
  return { used, faults };
}
