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
    const json = JSON.stringify(secret).slice(1, -1);
    forms.add(json);
    forms.add(json.replaceAll('/', '\\/')); // as PHP writes it
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

/**
 * Whether a whole text gives the credential back, or a part of it at one of its edges. An upstream that cuts its answers
 * as it is asked gives the rest in another answer.
 * @param secrets the forms of the credential alone, without what a profile sends before it
 */
export function reflects({ forms, secrets }: Sought, text: string): boolean {
  const search = searchFor({ forms, secrets });
  return search.read(Buffer.from(text)) === undefined || search.rest() === undefined;
}

/** The texts that a search looks for. */
export interface Sought {
  /** Found as a whole, anywhere. */
  readonly forms: readonly Buffer[];
  /** Found at an edge of the text too, of which a part of eight bytes is enough. */
  readonly secrets: readonly Buffer[];
}

/** Searches a text that comes in parts. */
export interface Search {
  /**
   * @returns the bytes that may be passed on, or undefined when a form is in what came. Bytes that may begin a form wait
   * for the next part, and so does a beginning of the text that may be from the middle of a form. Where many bytes wait,
   * as many have to come before they are searched again: an upstream that sends a form byte by byte would otherwise have
   * the whole of it compared for each.
   */
  read(part: Buffer): Buffer | undefined;
  /** @returns the bytes that still wait, at the end; undefined when they are a part of a form */
  rest(): Buffer | undefined;
}

export function searchFor({ forms, secrets }: Sought): Search {
  let waiting: Buffer = NOTHING;
  let isAtStart = true;
  let unread: Buffer[] = [];
  let unreadBytes = 0;
  const search = () => {
    const [only = NOTHING, ...more] = unread;
    const seen = waiting.length + more.length === 0 ? only : Buffer.concat([waiting, ...unread]);
    [unread, unreadBytes] = [[], 0];
    if (forms.some((form) => form.length <= seen.length && seen.includes(form))) return undefined;
    if (isAtStart) {
      if (secrets.some((form) => overlap(form, seen) >= SHORTEST)) return undefined;
      if (secrets.some((form) => form.includes(seen))) {
        waiting = Buffer.from(seen);
        return NOTHING;
      }
      isAtStart = false;
    }
    const from = seen.length - Math.max(0, ...forms.map((form) => overlap(seen, form)));
    waiting = Buffer.from(seen.subarray(from)); // a copy, or the whole part would stay in memory
    return seen.subarray(0, from);
  };
  return {
    read(part) {
      unread.push(part);
      unreadBytes += part.length;
      return unreadBytes < waiting.length ? NOTHING : search();
    },
    rest() {
      const passed = search();
      if (!passed) return undefined;
      const isInner = isAtStart && waiting.length >= SHORTEST;
      const isBeginning = secrets.some((form) => overlap(waiting, form) >= SHORTEST);
      return isInner || isBeginning ? undefined : Buffer.concat([passed, waiting]);
    },
  };
}

const NOTHING = Buffer.alloc(0);

/**
 * How many bytes at the end of one text are the beginning of the other, and not the whole of it, in time that grows with
 * their length alone (Knuth, Morris and Pratt).
 */
function overlap(before: Buffer, after: Buffer): number {
  const [first] = after;
  const from = first === undefined ? -1 : before.indexOf(first, Math.max(0, before.length - after.length));
  if (from < 0) return 0; // without the work below, which small parts would cost one by one
  const most = before.length - from;
  const borders = new Int32Array(most); // of each beginning of `after`: its longest end that is a beginning too
  for (let at = 1, length = 0; at < most; at += 1) {
    while (length > 0 && after[at] !== after[length]) length = borders[length - 1] ?? 0;
    if (after[at] === after[length]) length += 1;
    borders[at] = length;
  }
  let matched = 0;
  for (let at = before.length - most; at < before.length; at += 1) {
    if (matched === most) matched = borders[matched - 1] ?? 0;
    while (matched > 0 && before[at] !== after[matched]) matched = borders[matched - 1] ?? 0;
    if (before[at] === after[matched]) matched += 1;
  }
  return matched;
}
