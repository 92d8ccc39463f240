/** Characters that have a meaning in a filter. @see RFC 4515, section 3 */
const escapeFilter = (value: string): string =>
  value.replace(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** @see RFC 4514, section 2.4 */
export const escapeDn = (value: string): string =>
  value
    .replace(/[\\"+,;<>=]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ');

/** Puts values into a filter, each under its name in braces. */
export const filterWith = (filter: string, values: Readonly<Record<string, string>>): string =>
  filter.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? whole : escapeFilter(value);
  });

/** A name or DN as a directory compares it: without case, and without white space around its parts. */
export const foldedName = (name: string): string =>
  name
    .toLowerCase()
    .split(',')
    .map((part) =>
      part
        .split('=')
        .map((side) => side.trim())
        .join('='),
    )
    .join(',');

/**
 * A name so that all spellings which a directory may take for one are one: it drops blanks, marks and characters that
 * nobody sees, and has other forms of letters (RFC 4518, section 2; Active Directory).
 */
export const comparedName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\s\p{M}\p{C}]/gu, '');

type Value = string | Buffer;

/** An entry whose attributes are found in any case (RFC 4512, section 2.5), with or without options. */
export function attributesIn(entry: Readonly<Record<string, Value | Value[]>>) {
  const named = Object.entries(entry).map(([key, value]) => {
    const [name = '', ...options] = key.toLowerCase().split(';');
    return {
      name,
      options,
      values: [value]
        .flat()
        .map(textOf)
        .filter((text) => text !== ''),
    };
  });
  const of = (name: string) => named.filter((each) => each.name === name.toLowerCase());
  return {
    valuesOf: (name: string): string[] => of(name).flatMap(({ values }) => values),
    /** Whether Active Directory sent the first part of the values only. */
    isPart: (name: string): boolean =>
      of(name).some(({ options }) =>
        options.some((option) => option.startsWith('range=') && option !== 'range=0-*'),
      ),
  };
}

const textOf = (value: Value): string => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));

/** What Active Directory means by a refused password: the number after `data` in its message. */
const BY_DATA: Readonly<Record<string, string>> = {
  530: 'logon_hours',
  531: 'workstation',
  532: 'password_expired',
  533: 'account_disabled',
  701: 'account_expired',
  773: 'password_must_change',
  775: 'account_locked',
};

interface Refused {
  readonly code: number;
  readonly message: string;
}

/**
 * Why a directory refused a password (RFC 4511, appendix A.2).
 * @returns undefined where it said nothing of the password or its account
 */
export function bindFault({ code, message }: Refused): string | undefined {
  if (code === 49) return BY_DATA[/\bdata (\d{3})\b/.exec(message)?.[1] ?? ''] ?? 'password';
  if (code === 32) return 'password';
  if (code === 19) return 'account_locked'; // as 389 Directory Server says after too many wrong passwords
  if (code !== 53) return undefined;
  return /inactivat|disabled/i.test(message) ? 'account_disabled' : 'unwilling_to_perform';
}

/** Answers to any request that say something of the directory. */
const BY_CODE: Readonly<Record<number, string>> = {
  3: 'search_limit',
  4: 'search_limit',
  7: 'bind_method',
  8: 'tls_required',
  11: 'search_limit',
  13: 'tls_required',
  34: 'bind_dn',
  48: 'bind_method',
  50: 'search_access',
  51: 'unavailable',
  52: 'unavailable',
};

/** The reason why a step at a directory failed: its refusal, or the way to it. */
export function failureAt(step: string, error: unknown, isRefusal: boolean): string {
  const { code = '', message = '' }: { code?: unknown; message?: string } = Object(error);
  if (isRefusal) return refusalAt(step, { code: Number(code), message });
  if (/CERT|SELF_SIGNED|VERIFY|TLS|SSL|EPROTO/.test(String(code))) return 'tls_failed';
  if (/TIMEDOUT/.test(String(code)) || /time-?out|timed out/i.test(message)) return 'timeout';
  return 'connection_failed';
}

function refusalAt(step: string, { code, message }: Refused): string {
  if (step === 'start_tls') return step;
  const fault = step === 'bind' ? bindFault({ code, message }) : undefined;
  if (fault !== undefined) return fault === 'password' ? step : `bind_${fault}`;
  const isOfBind = BY_CODE[code]?.startsWith('bind_');
  return (isOfBind && step !== 'bind' ? undefined : BY_CODE[code]) ?? step;
}
