const NOT_ASCII = /[\u007f-\uffff]/g;

/** JSON in ASCII alone, for what travels in headers: everything beyond it is written as `\uXXXX`. */
export function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    NOT_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
