// The graph that circuits are parts of: what each head and MLP adds to the residual stream, and what reads it. Nodes are
// named as by edge attribution patching: input, a0.h1, m0, logits; inputs of heads a0.h1<q>, a0.h1<k>, a0.h1<v>.

/** An edge of the graph: what the node `from` adds is read at `to`. */
export interface CircuitEdge {
  /** `input` (what the first layer reads), `a0.h1` (head 1 of layer 0) or `m0` (the MLP of layer 0). */
  from: string;
  /** `a0.h1<q>`, `<k>`, `<v>` (for grouped keys and values the index of the key/value head), `m0` or `logits`. */
  to: string;
}

/** The sizes that determine a graph. */
export interface GraphShape {
  layers: number;
  heads: number;
  keyValueHeads: number;
  /** Whether a layer's MLP reads what its attention adds. */
  sequential: boolean;
}

/** A place that reads the residual stream: a head's queries, keys or values, an MLP, or the logits. */
export interface Receiver {
  name: string;
  /** Its layer; the number of layers for the logits. */
  layer: number;
  part: 'q' | 'k' | 'v' | 'mlp' | 'logits';
  head: number;
  /** The nodes that it is part of: the heads that share keys and values. */
  nodes: string[];
  /** The nodes that it reads, the last ones first. */
  senders: string[];
}

const headName = (layer: number, head: number) => `a${layer}.h${head}`;
const indices = (count: number) => Array.from({ length: count }, (_, at) => at);

/** All nodes that add to the stream before a layer's attention, the last ones first. */
function sendersBefore({ heads }: GraphShape, layer: number): string[] {
  const earlier = indices(layer).reverse();
  return [...earlier.flatMap((one) => [`m${one}`, ...headsOf(heads, one)]), 'input'];
}

const headsOf = (heads: number, layer: number) =>
  indices(heads)
    .reverse()
    .map((head) => headName(layer, head));

/** All receivers, from the logits to the first layer. */
export function receiversOf(shape: GraphShape): Receiver[] {
  const { layers, heads, keyValueHeads, sequential } = shape;
  const logits = { part: 'logits', layer: layers, head: 0, nodes: ['logits'] } as const;
  const all: Receiver[] = [{ name: 'logits', ...logits, nodes: ['logits'], senders: sendersBefore(shape, layers) }];
  for (const layer of indices(layers).reverse()) {
    const before = sendersBefore(shape, layer);
    const name = `m${layer}`;
    const senders = sequential ? [...headsOf(heads, layer), ...before] : before;
    all.push({ name, layer, part: 'mlp', head: 0, nodes: [name], senders });
    for (const part of ['v', 'k', 'q'] as const) {
      const count = part === 'q' ? heads : keyValueHeads;
      for (const head of indices(count).reverse()) {
        const group = heads / count;
        const nodes = indices(group).map((at) => headName(layer, head * group + at));
        all.push({ name: `${headName(layer, head)}<${part}>`, layer, part, head, nodes, senders: before });
      }
    }
  }
  return all;
}
