/** Control characters would move the cursor of the terminal, or colour it. */
const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A text with a replacement character for each control character. */
export const printable = (text: string) => text.replaceAll(CONTROLS, '\u{fffd}');
