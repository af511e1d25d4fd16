// Where the cells of an attention map lie on its canvas, in device pixels. Cells begin and end on whole pixels,
// so that edges are sharp; where there are more cells than pixels, one pixel stands for a block of cells.

export interface Cell {
  query: number;
  key: number;
}

export interface MapWindow {
  /** First query and first key shown. */
  query: number;
  key: number;
  /** Queries and keys shown. */
  count: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class MapGeometry {
  readonly window: MapWindow;
  readonly left: number;
  readonly top: number;
  /** Side of the whole map in device pixels. */
  readonly side: number;
  /** Cells along one pixel of the map's image; 1 unless cells are smaller than pixels. */
  readonly factor: number;

  constructor(window: MapWindow, side: number, left: number, top: number) {
    this.window = window;
    this.left = left;
    this.top = top;
    this.side = Math.max(1, Math.floor(side));
    this.factor = Math.max(1, Math.ceil(window.count / this.side));
  }

  /** Mean width of one cell in device pixels; below 1 when a pixel holds several. */
  get cell(): number {
    return this.side / this.window.count;
  }

  /** Where the i-th line of cells begins, in whole pixels from the map's edge. */
  edge(i: number): number {
    return Math.round(i * this.cell);
  }

  cellAt(x: number, y: number): Cell | undefined {
    const column = Math.floor((x - this.left) / this.cell);
    const line = Math.floor((y - this.top) / this.cell);
    const { query, key, count } = this.window;
    if (column < 0 || line < 0 || column >= count || line >= count) return undefined;
    return { query: query + line, key: key + column };
  }

  boxOf({ query, key }: Cell): Box {
    const column = key - this.window.key;
    const line = query - this.window.query;
    const [x, y] = [this.edge(column), this.edge(line)];
    return {
      x: this.left + x,
      y: this.top + y,
      width: Math.max(1, this.edge(column + 1) - x),
      height: Math.max(1, this.edge(line + 1) - y),
    };
  }

  /** Every how many tokens an axis label fits, when each needs `height` pixels. */
  labelEvery(height: number): number {
    return Math.max(1, Math.ceil(height / this.cell));
  }
}

/** A window of `count` tokens that holds the cell, moved as little as possible from `current`. */
export function windowAround(cell: Cell, count: number, total: number, current?: MapWindow): MapWindow {
  const place = (wanted: number, from: number): number => {
    const low = Math.max(from, wanted - count + 1);
    return Math.max(0, Math.min(low, wanted, Math.max(0, total - count)));
  };
  const size = Math.min(count, total);
  if (!current || current.count !== size) {
    const start = (wanted: number): number => Math.max(0, Math.min(total - size, wanted - Math.floor(size / 2)));
    return { query: start(cell.query), key: start(cell.key), count: size };
  }
  return { query: place(cell.query, current.query), key: place(cell.key, current.key), count: size };
}
