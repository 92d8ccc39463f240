import { createHash } from 'node:crypto';

/** A document that is sent as it is. A short text leaves in one piece with its headers; a long one as bytes. */
export interface Finished {
  readonly body: string | Buffer;
  readonly etag: string;
}

/**
 * Characters. Node reserves three bytes for each character of a text and its headers, and takes memory for that at each
 * answer when it comes to more than 16 KiB.
 */
const LONG = 4096;

export const finished = (document: string | Buffer): Finished => ({
  body: typeof document === 'string' && document.length > LONG ? Buffer.from(document) : document,
  etag: `"${createHash('sha256').update(document).digest('base64url')}"`,
});
