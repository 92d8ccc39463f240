/** Control characters (C0, DEL, C1): they end lines and headers in programs that read a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about them
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** Characters that make a text look like another to a person. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about them
const NOT_SHOWN = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** The same, and characters that have no shape of their own, so that two texts which look alike are alike. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about them
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/** Tells whether a text is one line for a page: not empty or too long, without spaces around it, and all of it seen. */
export function isLabel(text: string, most: number): boolean {
  if (text === '' || text !== text.trim() || !text.isWellFormed() || UNSEEN.test(text)) return false;
  return codePoints(text) <= most;
}

/** Tells whether a text has a control character. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** Tells whether a person can read a text as it is: no control or bidirectional character, no half surrogate pair. */
export function isShowable(text: string): boolean {
  return !NOT_SHOWN.test(text) && text.isWellFormed();
}

/** Counts code points, which a text's `length` does not do beyond U+FFFF. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Cuts a text after so many code points. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : [...text].slice(0, most).join('');
}

/** Writes characters that a reader would not see as `\u202e`. */
export function visible(text: string): string {
  return text.replace(new RegExp(NOT_SHOWN, 'g'), (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
