import { parseJsonText } from '@behest/protocol/json';

/**
 * Reads JSON that the database holds, whose members have different names. `JSON.parse` of this Node can take an escaped
 * member name for another one, and an audit entry would then not have the hash it has, so a text with escapes is read by
 * the parser of requests, which is slower.
 * @see https://github.com/nodejs/node/issues/63785
 */
export function parseStored(text: string): unknown {
  return text.includes('\\') ? parseJsonText(text) : JSON.parse(text);
}
