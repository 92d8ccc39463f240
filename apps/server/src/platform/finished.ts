import { createHash } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';

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

/** A document that is also sent compressed. */
export interface Packable extends Finished {
  /** Compressed at the first request for it. */
  packed(): Finished;
}

/** The best compression of more bytes than this would hold up all other requests for seconds. */
const LARGE = 100_000;

export function packable(document: string | Buffer): Packable {
  let packed: Finished | undefined;
  const pack = () => {
    const quality = document.length > LARGE ? 5 : constants.BROTLI_MAX_QUALITY;
    packed ??= finished(
      brotliCompressSync(document, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    );
    return packed;
  };
  return { ...finished(document), packed: pack };
}
