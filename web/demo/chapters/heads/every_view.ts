// All heads of all layers in one picture: a small attention map for each, and the chosen one with its tokens.

import '../../book/tile_grid.js';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { vars } from '../../book/vars.js';
import type { Data, FigureHeads } from './figure.js';
import { attentionMap, windowNote } from './maps_view.js';

/** The side of a small map in CSS pixels: at least what a finger finds. */
const sides = { least: 24, most: 130 };

export function everyView(figure: FigureHeads, { reading, every }: Data): TemplateResult {
  if (!every) return html``;
  const { labels } = figure.words;
  const { stack, layers, heads, layer, from, shown } = reading;
  const head = figure.headOf(reading);
  const room = figure.width - (figure.narrow ? 0 : figure.inClass ? figure.wall(500) : 400);
  const high = figure.inClass ? figure.stageHeight - figure.wall(110) : 470;
  const side = Math.max(sides.least, Math.min(sides.most, (room - 34) / heads, high / layers));
  const place = (tile: number) => ({ layer: Math.floor(tile / heads), head: tile % heads });
  const isOff = (tile: number): boolean => figure.isOff({ ...reading, ...place(tile) }, place(tile).head);
  const name = (tile: number): string => {
    const said = { layer: place(tile).layer + 1, head: place(tile).head + 1 };
    return filled(isOff(tile) ? `${labels.mapName}. ${labels.headOff}` : labels.mapName, said);
  };
  const range = `${from}:${from + shown}`;
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => html`<span>${i + 1}</span>`);
  const here = { layer: layer + 1, head: head + 1 };
  const toNumbers = { l: String(layer), h: String(head) };
  return html`<div class="every" ${vars({ '--wide': `${side * heads}px` })}>
    <div class="every-maps" ${vars({ '--heads': heads })}>
      <div class="across" aria-hidden="true">${numbers(heads)}</div>
      <div class="down" aria-hidden="true">${numbers(layers)}</div>
      <tile-grid scale="weights" label=${labels.everyName} source="${stack}.*.attn.hook_pattern[0, :, ${range}, ${range}]" .numbers=${every.maps}
        .across=${heads} .chosen=${layer * heads + head} .tileName=${name} .faint=${isOff}
        @tile-select=${(event: CustomEvent<{ tile: number }>) => pick(figure, place(event.detail.tile))}></tile-grid>
    </div>
    <div class="one-map">
      <p class="caption">${filled(labels.everyOne, here)} <span class="muted">${windowNote(figure, reading)}</span></p>
      ${attentionMap(figure, reading, head, { cell: 0, height: figure.inClass ? figure.wall(28) : 21, named: true })}
      <p class="said">${figure.note || (isOff(layer * heads + head) ? filled(labels.headOff, here) : '\u00A0')}</p>
      <p class="ways"><button type="button" class="plain" @click=${() => figure.open(layer, head)}>${filled(labels.toBlock, here)}</button>
      ${figure.who === figure.book.modelName && stack === 'blocks' ? html`<a class="plain" href=${figure.book.address.href('head', toNumbers)}>${labels.toNumbers}</a>` : ''}</p>
    </div>
  </div>`;
}

const pick = (figure: FigureHeads, { layer, head }: { layer: number; head: number }): void =>
  figure.choose({ l: String(layer), h: String(head) });
