const NOT_ASCII = /[\u007f-\uffff]/g;

/**
 * Writes JSON in ASCII alone, so that it may travel in a header: every other character becomes `\uXXXX`.
 *
 * @throws TypeError as `JSON.stringify` does, for a cycle or a bigint
 */
export function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    NOT_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
