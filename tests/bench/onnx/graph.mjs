// An ONNX graph that is built node by node and written as NAME.onnx with its weights beside it in NAME.bin (ONNX's
// external data). Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { bytes, float, integer, message, root, text } from './protobuf.mjs';

const ELEMENT = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 };
const ATTRIBUTE = { float: 1, int: 2, string: 3, ints: 7 };
const ALIGNMENT = 64;
const INLINE_BYTES = 1024; // smaller tensors stand in the graph itself
const OPSETS = [
  ['', 17],
  ['com.microsoft', 1],
];
const CONTRIBUTED = 'com.microsoft';

const elementOf = (data) => {
  const name = data.constructor.name.replace('Array', '').toLowerCase().replace('bigint64', 'int64');
  if (!(name in ELEMENT)) throw new Error(`ONNX: no element type for ${data.constructor.name}`);
  return ELEMENT[name];
};

function attribute(name, value) {
  if (typeof value === 'string') return message(5, [text(1, name), text(4, value), integer(20, ATTRIBUTE.string)]);
  if (Array.isArray(value))
    return message(5, [text(1, name), value.map((each) => integer(8, each)), integer(20, ATTRIBUTE.ints)]);
  // A float is written as { float: 0.5 }, so that 1.0 can be told from 1.
  if (typeof value === 'object')
    return message(5, [text(1, name), float(2, value.float), integer(20, ATTRIBUTE.float)]);
  return message(5, [text(1, name), integer(3, value), integer(20, ATTRIBUTE.int)]);
}

const dimension = (size) => message(1, [typeof size === 'string' ? text(2, size) : integer(1, size)]);

function value(field, { name, type, dims }) {
  const shape = message(2, dims.map(dimension));
  return message(field, [text(1, name), message(2, [message(1, [integer(1, ELEMENT[type]), shape])])]);
}

export class OnnxGraph {
  #nodes = [];
  #inputs = [];
  #outputs = [];
  #tensors = [];
  #names = new Set();

  /** An input or output; a dimension is a size or a name. */
  input(name, type, dims) {
    this.#inputs.push({ name, type, dims });
    return name;
  }
  output(name, type, dims) {
    this.#outputs.push({ name, type, dims });
  }

  /** A constant; the typed array's kind gives the element type. */
  constant(name, dims, data) {
    const size = dims.reduce((product, each) => product * each, 1);
    if (size !== data.length) throw new Error(`ONNX: ${name} has ${data.length} elements for [${dims}]`);
    if (!this.#names.has(name)) this.#tensors.push({ name, dims, data });
    this.#names.add(name);
    return name;
  }

  /** A node; '' stands for an input that is left out. Returns the first output's name. */
  node(operator, inputs, outputs, attributes = {}, domain = '') {
    const fields = [
      inputs.map((name) => text(1, name)),
      outputs.map((name) => text(2, name)),
      text(3, `${operator}:${outputs[0]}`),
      text(4, operator),
      Object.entries(attributes).map(([name, each]) => attribute(name, each)),
      text(7, domain),
    ];
    this.#nodes.push(message(1, fields));
    return outputs[0];
  }

  /** One of onnxruntime's own operators. */
  contributed(operator, inputs, outputs, attributes = {}) {
    return this.node(operator, inputs, outputs, attributes, CONTRIBUTED);
  }

  /** Writes both files into `folder`. */
  write(folder, name) {
    const data = openSync(join(folder, `${name}.bin`), 'w');
    try {
      let end = 0;
      const tensors = this.#tensors.map((tensor) => {
        const raw = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
        const head = [tensor.dims.map((size) => integer(1, size)), integer(2, elementOf(tensor.data))];
        if (raw.byteLength < INLINE_BYTES) return message(5, [head, text(8, tensor.name), bytes(9, raw)]);
        const offset = end;
        end = Math.ceil((offset + raw.byteLength) / ALIGNMENT) * ALIGNMENT;
        writeAt(data, raw, offset);
        const place = { location: `${name}.bin`, offset: String(offset), length: String(raw.byteLength) };
        const entries = Object.entries(place).map(([key, each]) => message(13, [text(1, key), text(2, each)]));
        return message(5, [head, text(8, tensor.name), entries, integer(14, 1)]);
      });
      writeFileSync(join(folder, `${name}.onnx`), this.#model(tensors));
    } finally {
      closeSync(data);
    }
  }

  #model(tensors) {
    const graph = [
      this.#nodes,
      text(2, 'bench'),
      tensors,
      this.#inputs.map((each) => value(11, each)),
      this.#outputs.map((each) => value(12, each)),
    ];
    const opsets = OPSETS.map(([domain, version]) => message(8, [text(1, domain), integer(2, version)]));
    return root([integer(1, 8), text(2, 'clearformer'), message(7, graph), opsets]);
  }
}

function writeAt(file, raw, offset) {
  for (let written = 0; written < raw.byteLength; ) {
    written += writeSync(file, raw, written, raw.byteLength - written, offset + written);
  }
}
