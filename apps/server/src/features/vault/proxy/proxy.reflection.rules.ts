/** A shorter secret stands in answers by chance. */
const SHORTEST = 8;

/**
 * The texts by which an upstream would give the credential back: as it was sent, in base64 at each of the three places
 * where it may begin, and percent-encoded.
 * @param secrets the credential, and what it was sent as
 */
export function formsOf(secrets: readonly string[]): readonly Buffer[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    forms.add(secret);
    const percent = encodeURIComponent(secret);
    forms.add(percent);
    forms.add(percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    forms.add(JSON.stringify(secret).slice(1, -1));
    for (const shift of [0, 1, 2]) {
      const core = base64Core(Buffer.from(secret), shift);
      forms.add(core);
      forms.add(core.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  return [...forms].filter((form) => form.length >= SHORTEST).map((form) => Buffer.from(form));
}

/** The base64 characters that depend on these bytes alone, when so many bytes stand before them in their group of three. */
function base64Core(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const first = Math.ceil((shift * 8) / 6);
  const end = Math.floor(((shift + bytes.length) * 8) / 6);
  return text.slice(first, end);
}

export const reflects = (forms: readonly Buffer[], text: string): boolean =>
  forms.some((form) => text.includes(form.toString()));

/** Searches a text that comes in parts. */
export interface Search {
  /**
   * @returns the bytes that may be passed on, or undefined when a form is in what came. Bytes that may begin a form wait
   * for the next part.
   */
  read(part: Buffer): Buffer | undefined;
  /** The bytes that still wait, at the end. */
  rest(): Buffer;
}

export function searchFor(forms: readonly Buffer[]): Search {
  let waiting: Buffer = Buffer.alloc(0);
  return {
    read(part) {
      const seen = waiting.length === 0 ? part : Buffer.concat([waiting, part]);
      if (forms.some((form) => seen.includes(form))) return undefined;
      const from = seen.length - Math.max(0, ...forms.map((form) => beginningAtEnd(seen, form)));
      waiting = Buffer.from(seen.subarray(from)); // a copy, or the whole part would stay in memory
      return seen.subarray(0, from);
    },
    rest: () => waiting,
  };
}

/** How many bytes at the end of `seen` are a beginning of the form. */
function beginningAtEnd(seen: Buffer, form: Buffer): number {
  const first = form[0];
  if (first === undefined) return 0;
  let at = seen.indexOf(first, Math.max(0, seen.length - form.length + 1));
  while (at >= 0) {
    const length = seen.length - at;
    if (seen.compare(form, 0, length, at) === 0) return length;
    at = seen.indexOf(first, at + 1);
  }
  return 0;
}
