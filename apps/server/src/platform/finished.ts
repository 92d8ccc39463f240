import { createHash } from 'node:crypto';

/** A document that is sent as it is. A short text leaves in one piece with its headers; a long one as bytes. */
export interface Finished {
  readonly body: string | Buffer;
  readonly etag: string;
}

export const finished = (body: string | Buffer): Finished => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
});
