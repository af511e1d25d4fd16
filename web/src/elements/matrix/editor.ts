// The input field for a cell's number.

import { decimals } from '../formats.js';
import type { Words } from '../words.js';
import type { Box } from './layout.js';

export interface Edit {
  readonly box: Box;
  readonly value: number;
  /** The first key typed, which replaces the value; empty to start with the value. */
  readonly first: string;
  readonly name: string;
  readonly words: Words;
  /** Called once: with the number, or undefined if it was not changed. */
  readonly done: (value: number | undefined, refocus: boolean) => void;
}

/** Parses a number as people write it: 1.5, −1,5, 2e3, −∞. undefined for anything else. */
function readNumber(text: string): number | undefined {
  const plain = text.trim().replaceAll('−', '-').replace(',', '.').toLowerCase();
  if (/^[+]?(∞|inf|infinity)$/.test(plain)) return Infinity;
  if (/^-(∞|inf|infinity)$/.test(plain)) return -Infinity;
  return /^[-+.\de]+$/.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : undefined;
}

/** The initial text: the shortest form with up to four decimals, below 1 with four digits: a tiny number is not 0. */
function written(value: number): string {
  if (!Number.isFinite(value)) return decimals(value, 0);
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4))).replaceAll('-', '−');
}

export class Editor {
  readonly #form: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #edit: Edit;
  readonly #before: string;
  #over = false;

  /** Opens the field over the cell, inside `frame`. */
  constructor(frame: HTMLElement, edit: Edit) {
    this.#edit = edit;
    this.#before = written(edit.value);
    this.#form = document.createElement('div');
    this.#form.className = 'editor';
    this.#input = document.createElement('input');
    this.#input.type = 'text';
    this.#input.inputMode = 'decimal';
    this.#input.autocomplete = 'off';
    this.#input.setAttribute('aria-label', `${edit.words.value}: ${edit.name}`);
    this.#input.value = edit.first || this.#before;
    // The numeric keyboards of some phones have no minus.
    const sign = document.createElement('button');
    sign.type = 'button';
    sign.textContent = '±';
    sign.setAttribute('aria-label', edit.words.sign);
    this.#form.append(this.#input, sign);
    const right = frame.scrollWidth; // the form itself may make it wider
    frame.append(this.#form);
    this.#place(right);
    this.#listen(sign);
    this.#input.focus();
    if (edit.first === '') this.#input.select();
  }

  /** Accepts the input if it is a number. */
  close(): void {
    this.#end(readNumber(this.#input.value), false);
  }

  #place(right: number): void {
    const { x, y, width, height } = this.#edit.box;
    const most = Math.max(0, right - this.#form.offsetWidth);
    this.#form.style.left = `${Math.min(most, Math.max(0, x + (width - this.#form.offsetWidth) / 2))}px`;
    this.#form.style.top = `${y + (height - this.#form.offsetHeight) / 2}px`;
  }

  #listen(sign: HTMLButtonElement): void {
    this.#input.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (event.isComposing) return; // an input method's own key
      if (event.key === 'Escape') this.#end(undefined, true);
      if (event.key === 'Enter') this.#finish();
    });
    this.#input.addEventListener('input', () => this.#complain(''));
    sign.addEventListener('pointerdown', (event) => event.preventDefault()); // keeps the focus in the field
    sign.addEventListener('click', () => {
      const text = this.#input.value;
      this.#input.value = /^[-−]/.test(text) ? text.slice(1) : `−${text}`;
      this.#input.focus();
    });
    this.#form.addEventListener('focusout', (event) => {
      if (!this.#form.contains(event.relatedTarget as Node | null)) this.close();
    });
  }

  #finish(): void {
    const value = readNumber(this.#input.value);
    if (value === undefined) this.#complain(this.#edit.words.notANumber);
    else this.#end(value, true);
  }

  #complain(text: string): void {
    this.#form.querySelector('[role=alert]')?.remove();
    this.#input.removeAttribute('aria-invalid');
    if (text === '') return;
    this.#input.setAttribute('aria-invalid', 'true');
    const note = document.createElement('p');
    note.setAttribute('role', 'alert');
    note.textContent = text;
    this.#form.append(note);
  }

  #end(value: number | undefined, refocus: boolean): void {
    if (this.#over) return;
    this.#over = true;
    const untouched = this.#edit.first === '' && this.#input.value === this.#before;
    const same = untouched || value === this.#edit.value;
    this.#form.remove();
    this.#edit.done(same ? undefined : value, refocus);
  }
}
