// An ONNX graph that is built node by node, and its bytes: NAME.onnx with its weights in NAME.bin (ONNX's external
// data). Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

import { type Bytes, bytes, float, integer, message, root, text } from './protobuf.js';

export type ElementType = 'float32' | 'uint8' | 'int8' | 'int32' | 'int64';
/** The typed array's kind determines the element type. */
export type Data = Float32Array | Uint8Array | Int8Array | Int32Array | BigInt64Array;
/** A float is written as { float: 0.5 }, to distinguish 1.0 from 1. */
export type Attribute = string | number | readonly number[] | { float: number };
export type Attributes = Readonly<Record<string, Attribute>>;
/** A dimension is a size or a name. */
export type Dims = readonly (number | string)[];

interface Port {
  name: string;
  type: ElementType;
  dims: Dims;
}

interface Constant {
  name: string;
  dims: readonly number[];
  data: Data;
}

const elementTypes: Readonly<Record<ElementType, number>> = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 };
const attributeTypes = { float: 1, int: 2, string: 3, ints: 7 };
const alignment = 64;
const inlineBytes = 1024; // smaller tensors are stored in the graph itself
const opsetVersions: readonly (readonly [string, number])[] = [
  ['', 17],
  ['com.microsoft', 1],
];
const contributedDomain = 'com.microsoft';

function elementOf(data: Data): number {
  if (data instanceof Float32Array) return elementTypes.float32;
  if (data instanceof Uint8Array) return elementTypes.uint8;
  if (data instanceof Int8Array) return elementTypes.int8;
  return data instanceof Int32Array ? elementTypes.int32 : elementTypes.int64;
}

const rawOf = ({ data }: Constant): Bytes =>
  new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
const headOf = ({ name, dims, data }: Constant): Bytes[] => [
  ...dims.map((size) => integer(1, size)),
  integer(2, elementOf(data)),
  text(8, name),
];

function attribute(name: string, value: Attribute): Bytes {
  if (typeof value === 'string') return message(5, [text(1, name), text(4, value), integer(20, attributeTypes.string)]);
  if (typeof value === 'number') return message(5, [text(1, name), integer(3, value), integer(20, attributeTypes.int)]);
  if ('float' in value) return message(5, [text(1, name), float(2, value.float), integer(20, attributeTypes.float)]);
  return message(5, [text(1, name), value.map((each) => integer(8, each)), integer(20, attributeTypes.ints)]);
}

const dimension = (size: number | string): Bytes =>
  message(1, [typeof size === 'string' ? text(2, size) : integer(1, size)]);

function value(field: number, { name, type, dims }: Port): Bytes {
  const shape = message(2, dims.map(dimension));
  return message(field, [text(1, name), message(2, [message(1, [integer(1, elementTypes[type]), shape])])]);
}

export class OnnxGraph {
  readonly #nodes: Bytes[] = [];
  readonly #inputs: Port[] = [];
  readonly #outputs: Port[] = [];
  readonly #tensors: Constant[] = [];
  readonly #names = new Set<string>();

  input(name: string, type: ElementType, dims: Dims): string {
    this.#inputs.push({ name, type, dims });
    return name;
  }
  output(name: string, type: ElementType, dims: Dims): void {
    this.#outputs.push({ name, type, dims });
  }

  constant(name: string, dims: readonly number[], data: Data): string {
    const size = dims.reduce((product, each) => product * each, 1);
    if (size !== data.length) throw new Error(`ONNX: ${name} has ${data.length} elements for [${dims}]`);
    if (!this.#names.has(name)) this.#tensors.push({ name, dims, data });
    this.#names.add(name);
    return name;
  }

  /** A node; '' is an omitted input. Returns the first output's name. */
  node(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Attributes = {},
    domain = '',
  ): string {
    const [first = ''] = outputs;
    const fields = [
      inputs.map((name) => text(1, name)),
      outputs.map((name) => text(2, name)),
      text(3, `${operator}:${first}`),
      text(4, operator),
      Object.entries(attributes).map(([name, each]) => attribute(name, each)),
      text(7, domain),
    ];
    this.#nodes.push(message(1, fields));
    return first;
  }

  /** One of onnxruntime's own operators. */
  contributed(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Attributes = {},
  ): string {
    return this.node(operator, inputs, outputs, attributes, contributedDomain);
  }

  /** One file that contains all weights. */
  serialised(): Bytes {
    return this.#model(this.#tensors.map((tensor) => message(5, [...headOf(tensor), bytes(9, rawOf(tensor))])));
  }

  /** NAME.onnx, and NAME.bin in parts. */
  external(name: string): { graph: Bytes; data: Bytes[] } {
    const data: Bytes[] = [];
    let end = 0;
    const tensors = this.#tensors.map((tensor) => {
      const [head, raw] = [headOf(tensor), rawOf(tensor)];
      if (raw.byteLength < inlineBytes) return message(5, [...head, bytes(9, raw)]);
      const place = { location: `${name}.bin`, offset: String(end), length: String(raw.byteLength) };
      const padding = new Uint8Array(Math.ceil(raw.byteLength / alignment) * alignment - raw.byteLength);
      data.push(raw, padding);
      end += raw.byteLength + padding.byteLength;
      const entries = Object.entries(place).map(([key, each]) => message(13, [text(1, key), text(2, each)]));
      return message(5, [...head, entries, integer(14, 1)]);
    });
    return { graph: this.#model(tensors), data };
  }

  #model(tensors: readonly Bytes[]): Bytes {
    const graph = [
      this.#nodes,
      text(2, 'bench'),
      tensors,
      this.#inputs.map((each) => value(11, each)),
      this.#outputs.map((each) => value(12, each)),
    ];
    const opsets = opsetVersions.map(([domain, version]) => message(8, [text(1, domain), integer(2, version)]));
    return root([integer(1, 8), text(2, 'clearformer'), message(7, graph), opsets]);
  }
}
