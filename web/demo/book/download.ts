// Saves a file on the reader's device.

/** Starts a download. */
export function download(file: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // Some browsers read it after the click.
}
