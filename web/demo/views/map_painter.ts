// Paints an attention map: the cells, sparse token labels along both axes, the row in focus and the cell pointed at.

import type { AttentionMaps } from '../state/attention_maps.js';
import { type ColourScale, cssColour } from '../state/colour_scale.js';
import { visible } from '../state/format.js';
import type { Cell, MapGeometry } from '../state/map_geometry.js';
import { mapExtent, type WeightImage } from '../state/weight_image.js';
import type { CanvasColours } from './canvas_colours.js';

export interface MapScene {
  store: AttentionMaps;
  layer: number;
  head: number;
  scale: ColourScale;
  colours: CanvasColours;
  font: string;
  /** Device pixels a CSS pixel. */
  ratio: number;
  texts: readonly string[];
  keyTexts: readonly string[];
  geometry: MapGeometry;
  /** The whole map as an image; absent in the close-up. */
  image: WeightImage | undefined;
  query: number | undefined;
  cell: Cell | undefined;
}

type Context = CanvasRenderingContext2D;

function paintImage(context: Context, scene: MapScene, image: WeightImage): void {
  const { geometry, scale } = scene;
  const base = new OffscreenCanvas(image.side, image.side);
  const flat = base.getContext('2d');
  if (!flat) return;
  const data = flat.createImageData(image.side, image.side);
  image.paint(scale, data.data, image.side);
  flat.putImageData(data, 0, 0);
  context.imageSmoothingEnabled = false;
  // Where the last block of cells is not full, the image reaches past the map; the surplus is clear.
  const side = Math.round(image.side * image.factor * geometry.cell);
  context.drawImage(base, geometry.left, geometry.top, side, side);
}

function paintCells(context: Context, scene: MapScene): void {
  const { geometry, store, layer, head, scale } = scene;
  const { query, key, count } = geometry.window;
  for (let q = query; q < query + count; q++) {
    const row = store.row(layer, head, q);
    for (let k = key; k < Math.min(key + count, row.length); k++) {
      const { x, y, width, height } = geometry.boxOf({ query: q, key: k });
      context.fillStyle = cssColour(scale, row[k] ?? 0);
      context.fillRect(x, y, width, height);
    }
  }
}

/** A fine grid where cells are large enough to bear one. */
function paintGrid(context: Context, { geometry, colours, ratio, store }: MapScene): void {
  if (geometry.cell < 9 * ratio) return;
  context.fillStyle = colours.surface;
  const line = Math.max(1, Math.round(ratio / 2));
  const extent = mapExtent(store, geometry.window.count);
  for (let i = 0; i <= geometry.window.count; i++) {
    const at = geometry.edge(i) - line;
    context.fillRect(geometry.left + at, geometry.top, line, geometry.side * extent.rows);
    context.fillRect(geometry.left, geometry.top + at, geometry.side * extent.columns, line);
  }
}

function fitted(context: Context, text: string, room: number): string {
  const shown = visible(text);
  if (context.measureText(shown).width <= room) return shown;
  let cut = shown;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}

function queryLabel(context: Context, scene: MapScene, query: number): void {
  const { geometry, ratio, texts } = scene;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const room = geometry.left - 10 * ratio;
  const y = geometry.top + (query - geometry.window.query + 0.5) * geometry.cell;
  context.fillText(fitted(context, texts[query] ?? '', room), geometry.left - 6 * ratio, y);
}

function keyLabel(context: Context, scene: MapScene, key: number): void {
  const { geometry, ratio, keyTexts } = scene;
  context.save();
  context.translate(geometry.left + (key - geometry.window.key + 0.5) * geometry.cell, geometry.top - 6 * ratio);
  context.rotate(-Math.PI / 2);
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(fitted(context, keyTexts[key] ?? '', geometry.top - 10 * ratio), 0, 0);
  context.restore();
}

function paintLabels(context: Context, scene: MapScene): void {
  const { geometry, colours, ratio, texts, keyTexts, font, cell, query } = scene;
  const { window } = geometry;
  const strongQuery = cell?.query ?? query;
  const every = geometry.labelEvery(13 * ratio);
  const clear = (one: number, other: number | undefined): boolean =>
    other === undefined || Math.abs(one - other) >= every;
  context.font = `${11 * ratio}px ${font}`;
  context.fillStyle = colours.muted;
  for (let i = 0; i < window.count; i += every) {
    const [line, column] = [window.query + i, window.key + i];
    if (line < texts.length && clear(line, strongQuery)) queryLabel(context, scene, line);
    if (column < keyTexts.length && clear(column, cell?.key)) keyLabel(context, scene, column);
  }
  context.font = `700 ${11 * ratio}px ${font}`;
  context.fillStyle = colours.ink;
  const inside = (at: number, from: number): boolean => at >= from && at < from + window.count;
  if (strongQuery !== undefined && inside(strongQuery, window.query)) queryLabel(context, scene, strongQuery);
  if (cell && inside(cell.key, window.key)) keyLabel(context, scene, cell.key);
}

/** Outline of one row, from the first key shown to the last that has a weight. */
function paintRowFocus(context: Context, scene: MapScene, query: number): void {
  const { geometry, colours, ratio, store, layer, head } = scene;
  const { window } = geometry;
  if (query < window.query || query >= window.query + window.count) return;
  const keys = Math.min(store.row(layer, head, query).length - window.key, window.count);
  if (keys <= 0) return;
  const { y, height } = geometry.boxOf({ query, key: window.key });
  const width = Math.max(1, 1.5 * ratio);
  context.strokeStyle = colours.focus;
  context.lineWidth = width;
  const thick = Math.max(height, 2 * ratio);
  context.strokeRect(geometry.left - width / 2, y - width / 2, geometry.edge(keys) + width, thick + width);
}

function paintCellFocus(context: Context, { geometry, colours, ratio }: MapScene, cell: Cell): void {
  const { x, y, width, height } = geometry.boxOf(cell);
  const hair = Math.max(1, Math.round(ratio / 2));
  context.fillStyle = colours.focus;
  context.globalAlpha = 0.5;
  context.fillRect(x + Math.floor(width / 2), geometry.top, hair, y - geometry.top);
  context.fillRect(geometry.left, y + Math.floor(height / 2), x - geometry.left, hair);
  context.globalAlpha = 1;
  const frame = 2 * ratio;
  context.strokeStyle = colours.focus;
  context.lineWidth = frame;
  const least = 3 * ratio;
  context.strokeRect(x - frame / 2, y - frame / 2, Math.max(width, least) + frame, Math.max(height, least) + frame);
}

export function paintMap(context: Context, scene: MapScene): void {
  const { canvas } = context;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const { geometry } = scene;
  const extent = mapExtent(scene.store, geometry.window.count);
  context.fillStyle = scene.colours.future;
  context.fillRect(geometry.left, geometry.top, geometry.side * extent.columns, geometry.side * extent.rows);
  if (scene.image) paintImage(context, scene, scene.image);
  else paintCells(context, scene);
  paintGrid(context, scene);
  paintLabels(context, scene);
  if (scene.query !== undefined) paintRowFocus(context, scene, scene.query);
  if (scene.cell) paintCellFocus(context, scene, scene.cell);
}
