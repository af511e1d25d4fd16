// Files of a checkpoint from a drop: single files or whole folders, traversed recursively.

/**
 * The file with its path in the drop: browsers set the path for picked folders only, and names may repeat across
 * folders.
 */
async function fileOf(entry: FileSystemFileEntry): Promise<File> {
  const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
  return Object.defineProperty(file, 'webkitRelativePath', { value: entry.fullPath.slice(1) });
}

async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    // A directory reader returns entries in batches; an empty one is the end.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return all;
    all.push(...batch);
  }
}

async function walk(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await fileOf(entry as FileSystemFileEntry)];
  const inside = await entriesOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(inside.map(walk))).flat();
}

/** Must be called before the drop event's handler first awaits: the transfer's items are cleared afterwards. */
export function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const items = Array.from(transfer.items, (item) => item.webkitGetAsEntry());
  const entries = items.filter((entry): entry is FileSystemEntry => entry !== null);
  if (entries.length === 0) return Promise.resolve(Array.from(transfer.files));
  return Promise.all(entries.map(walk)).then((lists) => lists.flat());
}
