import { type Readable, Transform } from 'node:stream';
import { JsonError, parseJson } from '@behest/protocol/json';
import type { ProxyRule } from '@behest/protocol/proxy-rules';
import { AppError } from '../../../platform/errors.ts';
import { isMethodParameter } from './match.rules.ts';
import { badRequest, type Framing } from './request.rules.ts';

const JSON_TYPE = /^application\/([\w.+-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const MAX_READ = 65_536; // bytes; the most that a decision can cover

/** The body of an agent's request. */
export interface SentBody {
  /** Undefined for none. */
  readonly content: Readable | Buffer | undefined;
  /** The text that enforcement reads, and its value; null where it reads nothing. */
  readonly text: string | null;
  readonly value: unknown;
}

const NONE: SentBody = { content: undefined, text: null, value: null };

/**
 * Reads the body as far as the rule wants it read. The bytes that were read are sent.
 * @throws BAD_REQUEST, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export async function bodyFor(
  { tool }: ProxyRule,
  { hasBody, length, contentType, isEncoded }: Framing,
  { body, maxBytes }: { readonly body: Readable; readonly maxBytes: number },
): Promise<SentBody> {
  if (isEncoded) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without `Content-Encoding`.');
  if (!hasBody) return NONE;
  const mode = tool === undefined ? 'stream' : (tool.body ?? 'none');
  if (mode === 'none') throw badRequest('Requests by this rule have no body.');
  const limit = mode === 'json' ? Math.min(maxBytes, MAX_READ) : maxBytes;
  if (length !== undefined && length > limit) throw tooLarge(limit);
  if (mode === 'stream') return { content: bounded(body, limit), text: null, value: null };
  // A reader that takes the bytes for a form would see other values than those that were enforced.
  if (!JSON_TYPE.test(contentType)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send `Content-Type: application/json`.');
  }
  const content = await wholeOf(body, limit);
  try {
    const value = parseJson(content);
    if (Object.keys(Object(value)).some(isMethodParameter)) {
      throw badRequest(
        'A member of the body names a method, which some upstreams take for that of the request.',
      );
    }
    return { content, text: content.toString(), value };
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(`The body is not acceptable JSON: ${error.fault}.`);
    throw error;
  }
}

const tooLarge = (limit: number) =>
  new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { limit });

async function wholeOf(body: Readable, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let read = 0;
  for await (const part of body) {
    read += part.length;
    if (read > limit) throw tooLarge(limit);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Ends a body that is larger than was said. */
function bounded(body: Readable, limit: number): Readable {
  let read = 0;
  const bounding = new Transform({
    transform(part: Buffer, _encoding, done) {
      read += part.length;
      if (read > limit) done(tooLarge(limit));
      else done(null, part);
    },
  });
  body.on('error', (error) => bounding.destroy(error));
  bounding.on('error', () => {}); // the sender reads it from `errored`, perhaps after its own stream has ended
  bounding.on('close', () => body.unpipe(bounding));
  return body.pipe(bounding);
}
