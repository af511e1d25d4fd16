// What of some attention maps is in focus: the head, a token, a cell, and the colours. Views that show the same maps share one.

import { html, type LitElement, type ReactiveController, type TemplateResult } from 'lit';
import type { AttentionMaps } from '../state/attention_maps.js';
import { type ColourScale, colourScale, type Spread } from '../state/colour_scale.js';
import type { Cell } from '../state/map_geometry.js';
import { theme } from '../state/theme.js';
import './attention_panel.js';
import type { HeadChoice } from './head_overview.js';

/** What the panel needs besides the focus. */
export interface PanelParts {
  maps: AttentionMaps;
  revision: number;
  texts: readonly string[];
  keyTexts?: readonly string[] | undefined;
  /** The query whose row is shown. */
  query: number | undefined;
  growing?: boolean;
}

export class AttentionFocus implements ReactiveController {
  scale: ColourScale = colourScale(theme.current, 'root');
  /** A token kept in focus, and one pointed at. */
  pinned: number | undefined;
  hovered: number | undefined;
  cell: Cell | undefined;

  constructor(
    private readonly host: LitElement,
    public chosen: HeadChoice = { layer: 0, head: 0 },
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    theme.addEventListener('change', this.#onTheme);
    this.#onTheme();
  }

  hostDisconnected(): void {
    theme.removeEventListener('change', this.#onTheme);
  }

  /** The token in focus: pointed at, else kept. */
  get token(): number | undefined {
    return this.hovered ?? this.pinned;
  }

  /** Keeps the chosen head among those of other maps. */
  fit({ layers, heads }: Pick<AttentionMaps, 'layers' | 'heads'>): void {
    const { layer, head } = this.chosen;
    this.chosen = { layer: Math.min(layer, Math.max(0, layers - 1)), head: Math.min(head, Math.max(0, heads - 1)) };
  }

  letGo = (): void => this.#set({ pinned: undefined, hovered: undefined, cell: undefined });

  onHeadPick = (event: CustomEvent<HeadChoice>): void => this.#set({ chosen: event.detail });

  onTokenPick = (event: CustomEvent<number | undefined>): void => this.#set({ pinned: event.detail });

  /** In a text, where picking a token takes the place of a cell in the map. */
  onTextPick = (event: CustomEvent<number | undefined>): void => this.#set({ pinned: event.detail, cell: undefined });

  onTextHover = (event: CustomEvent<number | undefined>): void =>
    this.#set(event.detail === undefined ? { hovered: undefined } : { hovered: event.detail, cell: undefined });

  onSpread = (event: CustomEvent<Spread>): void => this.#set({ scale: colourScale(theme.current, event.detail) });

  panel({ maps, revision, texts, keyTexts, query, growing = false }: PanelParts): TemplateResult {
    return html`<attention-panel .store=${maps} .revision=${revision} .chosen=${this.chosen} .scale=${this.scale}
      .texts=${texts} .keyTexts=${keyTexts} .query=${query} .cell=${this.cell} ?growing=${growing}
      @head-pick=${this.onHeadPick} @token-pick=${this.onTokenPick}
      @cell-hover=${(event: CustomEvent<Cell | undefined>) => this.#set({ cell: event.detail })}
      @spread-change=${this.onSpread}
    ></attention-panel>`;
  }

  #set(change: Partial<Pick<AttentionFocus, 'scale' | 'chosen' | 'pinned' | 'hovered' | 'cell'>>): void {
    Object.assign(this, change);
    this.host.requestUpdate();
  }

  #onTheme = (): void => this.#set({ scale: colourScale(theme.current, this.scale.spread) });
}
