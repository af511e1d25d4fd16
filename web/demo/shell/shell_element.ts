// Elements of the shell have no shadow root, so that styles/ and print.css apply to them.

import { LitElement, type PropertyDeclarations } from 'lit';
import type { Book } from '../book/book.js';
import type { ShellWords } from '../words/en/shell.js';

export abstract class ShellElement extends LitElement {
  static override properties: PropertyDeclarations = {
    book: { attribute: false },
    words: { attribute: false },
  };
  declare book: Book;
  declare words: ShellWords;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected readonly redraw = (): void => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    this.book?.address.addEventListener('change', this.redraw);
    this.book?.shelf.addEventListener('change', this.redraw);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.book?.address.removeEventListener('change', this.redraw);
    this.book?.shelf.removeEventListener('change', this.redraw);
  }
}
