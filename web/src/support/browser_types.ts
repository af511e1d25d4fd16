// Names of browsers' types in the declarations, for programs that are compiled without TypeScript's library `dom`, such as
// servers with @types/node alone. Interfaces of one name are merged: where that library is, these add nothing.

declare global {
  interface AudioBuffer {}
  interface Cache {}
  interface FileList {}
  interface FileSystemDirectoryHandle {}
  interface HTMLCanvasElement {}
  interface HTMLImageElement {}
  interface ImageBitmap {}
  interface ImageData {}
  interface OffscreenCanvas {}
}

export {};
