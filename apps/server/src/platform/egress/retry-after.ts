const LONGEST_MS = 24 * 3_600_000;

/**
 * When to try again: at the stated time, or later where the receiver asks for it by `Retry-After`, in seconds or as a date
 * (RFC 9110, section 10.2.3). A receiver may ask for a day at most.
 */
export function retryAt(stated: Date, retryAfter: string | undefined, at: Date): Date {
  const text = retryAfter?.trim() ?? '';
  const asked = /^\d{1,9}$/.test(text) ? at.getTime() + Number(text) * 1000 : dateIn(text);
  if (Number.isNaN(asked)) return stated;
  return new Date(Math.max(stated.getTime(), Math.min(asked, at.getTime() + LONGEST_MS)));
}

/** Only as HTTP writes dates: `Date.parse` reads `-1` and `600.5` as years. */
const dateIn = (text: string) => (/^[A-Z][a-z]{2,8}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN);
