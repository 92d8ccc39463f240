import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { badField } from '../../../platform/errors.ts';

const MOST_BYTES = 5_242_880;

/** Base64 with its padding and nothing else, so that a content has one text. @throws BAD_REQUEST */
export function contentOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw badField('content', 'format', 'The content has to be base64.');
  if (bytes.length > MOST_BYTES) throw badField('content', 'too_long');
  return bytes;
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Whether a header signs these bytes: `sha256=` and the HMAC in hexadecimal. */
export function isSigned(bytes: Buffer, header: string, secret: string): boolean {
  const due = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`);
  const sent = Buffer.from(header);
  return sent.length === due.length && timingSafeEqual(sent, due);
}

const LONGEST_NAME = 256;

/** The names in a notification that the audit log repeats. Hosts have their own shapes, and a part may be absent. */
export function namesIn(body: object) {
  const { ref, repository } = Object(body);
  return { ref: nameIn(ref), repository: nameIn(Object(repository).full_name) };
}

const nameIn = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_NAME) : null);
