// The JavaScript of Embind as far as this module needs it: every exported function takes one val and returns one, and val's
// methods take and return the few types that embind.cpp registers. Emscripten's functions of these names, which this file
// replaces at link time, also serve classes, overloads, strings and every other type, with three times as much code.
// Values of JavaScript are known to C++ by their handles; `Emval` and `emval_handles` are Emscripten's.

addToLibrary({
  $Emval__deps: ['$emval_freelist', '$emval_handles'],
  $Emval: {
    toValue: (handle) => emval_handles[handle],
    toHandle: (value) => {
      const reserved = [undefined, null, true, false].indexOf(value);
      if (reserved >= 0) return 2 * reserved + 2;
      const handle = emval_freelist.pop() || emval_handles.length;
      emval_handles[handle] = value;
      emval_handles[handle + 1] = 1; // references
      return handle;
    },
  },
  _emval_decref__deps: ['$emval_freelist', '$emval_handles'],
  _emval_decref: (handle) => {
    if (handle < 10 || --emval_handles[handle + 1] > 0) return;
    emval_handles[handle] = undefined;
    emval_freelist.push(handle);
  },
  $takeValue__deps: ['$Emval', '_emval_decref'],
  $takeValue: (handle) => {
    const value = Emval.toValue(handle);
    __emval_decref(handle);
    return value;
  },

  // NUL ends a text. Decoders refuse shared memory, so that the bytes are copied.
  $UTF8ToString__deps: ['$UTF8Decoder'],
  $UTF8ToString: (start) => {
    const first = start >>> 0;
    return UTF8Decoder.decode(HEAPU8.slice(first, HEAPU8.indexOf(0, first)));
  },
  $getStringOrSymbol__deps: ['$UTF8ToString'],
  $getStringOrSymbol: (name) => UTF8ToString(name),

  // Types by id, as numbers that embind.cpp knows as kinds, and how each is read from a slot of eight bytes.
  $embindKinds: {},
  clearformer_register_type__deps: ['$embindKinds'],
  clearformer_register_type: (type, kind) => {
    embindKinds[type] = kind;
  },
  $embindView: (View, slot) => new View(HEAPU8.buffer, HEAPU32[(slot + 4) >>> 2], HEAPU32[slot >>> 2]),
  $embindReaders__deps: ['$embindView', '$takeValue'],
  $embindReaders: [
    () => {},
    (slot) => HEAPU8[slot] > 0,
    (slot) => HEAP32[slot >>> 2],
    (slot) => HEAPU32[slot >>> 2],
    (slot) => HEAPF32[slot >>> 2],
    (slot) => HEAPF64[slot >>> 3],
    (slot) => takeValue(HEAPU32[slot >>> 2]),
    (slot) => embindView(Uint8Array, slot),
    (slot) => embindView(Int32Array, slot),
    (slot) => embindView(BigInt64Array, slot),
    (slot) => embindView(Float32Array, slot),
  ],

  // For val's isArray alone, of arrays of every realm (frames, jsdom, Node's vm).
  _emval_instanceof__deps: ['$Emval'],
  _emval_instanceof: (handle, _) => Array.isArray(Emval.toValue(handle)),

  // The calls that val makes: of functions, methods and constructors, and the conversion of its only argument.
  $embindInvokers: [],
  _emval_create_invoker__deps: ['$Emval', '$UTF8ToString', '$embindInvokers', '$embindKinds', '$embindReaders'],
  _emval_create_invoker: (count, types, invocation) => {
    const [result, ...kinds] = HEAPU32.slice(types >>> 2, (types >>> 2) + count);
    const readers = kinds.map((type) => embindReaders[embindKinds[type]]);
    return (
      embindInvokers.push((handle, name, slots) => {
        const given = readers.map((read, i) => read(slots + 8 * i));
        const target = Emval.toValue(handle);
        const value = [
          () => target(...given),
          () => target[UTF8ToString(name)](...given),
          () => new target(...given),
          () => given[0],
        ][invocation]();
        return embindKinds[result] === 6 ? Emval.toHandle(value) : value;
      }) - 1
    );
  },
  _emval_invoke__deps: ['$embindInvokers'],
  _emval_invoke: (invoker, handle, name, _, slots) => embindInvokers[invoker](handle, name, slots),

  clearformer_register_export__deps: ['$Emval', '$UTF8ToString', '$takeValue', '$wasmTable'],
  clearformer_register_export: (name, call, binding) => {
    Module[UTF8ToString(name)] = (given) => takeValue(wasmTable.get(call)(binding, Emval.toHandle(given)));
  },
});
