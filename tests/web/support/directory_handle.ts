// A browser's directory handle over a record: one level per call.

import type { Files } from './checkpoints.js';

const missing = () => new DOMException('not there', 'NotFoundError');

export function directory(given: Files, name = 'picked'): FileSystemDirectoryHandle {
  const checked = (part: string) => {
    if (part.includes('/')) throw new TypeError('Name is not allowed.');
    return part;
  };
  const getFileHandle = async (part: string) => {
    const bytes = given[checked(part)];
    if (bytes === undefined) throw missing();
    return { getFile: async () => new File([new Uint8Array(bytes)], part) };
  };
  const getDirectoryHandle = async (part: string) => {
    const prefix = `${checked(part)}/`;
    const inside = Object.entries(given).filter(([path]) => path.startsWith(prefix));
    if (inside.length === 0) throw missing();
    return directory(Object.fromEntries(inside.map(([path, bytes]) => [path.slice(prefix.length), bytes])), part);
  };
  async function* keys() {
    yield* new Set(Object.keys(given).map((path) => path.replace(/\/.*/, '')));
  }
  return { kind: 'directory', name, keys, getFileHandle, getDirectoryHandle } as unknown as FileSystemDirectoryHandle;
}
