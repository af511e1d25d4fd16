// Checksums computed by the platform if it can: Node's crypto, or WebCrypto for bytes that are in memory as a whole.

import { isNode, nodeModule } from '../support/platform.js';

/** A checksum of bytes that arrive in chunks. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** The digest in lower-case hexadecimal; may be called once. */
  hex(): string;
}

/** SHA-256 of bytes that arrive in chunks. */
export async function runningSha256(): Promise<RunningDigest> {
  if (!isNode()) return new (await import('./sha256.js')).Sha256();
  const hash = nodeModule('node:crypto').createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}

/** SHA-256 of bytes, computed outside this thread if the platform can. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  if (hasWebCrypto()) return hexOf(await crypto.subtle.digest('SHA-256', bytes as BufferSource));
  const digest = await runningSha256();
  digest.update(bytes);
  return digest.hex();
}

/**
 * SHA-1 of bytes, and of git's blob of them (`blob <length>\0` followed by the bytes); undefined on pages without
 * WebCrypto, that is, in insecure contexts.
 */
export async function sha1sOf(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  if (!hasWebCrypto()) return undefined;
  const head = new TextEncoder().encode(`blob ${bytes.byteLength}\0`);
  const blob = new Uint8Array(head.byteLength + bytes.byteLength);
  blob.set(head);
  blob.set(bytes, head.byteLength);
  const digests = [blob, bytes].map((each) => crypto.subtle.digest('SHA-1', each as BufferSource));
  return (await Promise.all(digests)).map(hexOf);
}

function hasWebCrypto(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

function hexOf(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
