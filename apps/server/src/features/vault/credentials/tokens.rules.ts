const MAX_TOKEN_BYTES = 16_384;

/** The tokens of an upstream's answer. */
export interface NewTokens {
  readonly accessToken: string;
  /** Absent when the former one goes on. */
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
  /** The end of the refresh token, where the upstream says it. */
  readonly refreshExpiresInSeconds: number | undefined;
  /** The granted scopes as the upstream wrote them. Undefined means those that were asked for. */
  readonly scopes: readonly string[] | undefined;
}

/** How an upstream writes its answers. */
export interface AnswerForm {
  readonly pointers?: Readonly<
    Partial<Record<'accessToken' | 'refreshToken' | 'expiresIn' | 'scope', string>>
  >;
  /** The time for which an access token that can be replaced is taken to live, when the answer names no end. */
  readonly tokenLifetimeSeconds?: number | null | undefined;
  /** Whether there is a refresh token from before, which goes on without a new one. */
  readonly isRefresh?: boolean;
}

type Said = Readonly<Record<string, unknown>>;

/**
 * The tokens of an answer. A member that is not where its pointer says is looked for in its usual place, because some
 * upstreams nest the tokens of a code and not those of a refresh.
 * @returns undefined when there are none that can be kept
 */
export function tokensIn(
  said: Said,
  { pointers = {}, tokenLifetimeSeconds, isRefresh = false }: AnswerForm,
  now: Date,
): NewTokens | undefined {
  const at = (pointer: string | undefined, name: string) =>
    (pointer === undefined ? undefined : valueAt(said, pointer)) ?? said[name];
  const accessToken = at(pointers.accessToken, 'access_token');
  if (!isToken(accessToken)) return undefined;
  const refreshToken = at(pointers.refreshToken, 'refresh_token');
  if (typeof refreshToken === 'string' && refreshToken !== '' && !isToken(refreshToken)) return undefined;
  const told =
    secondsIn(at(pointers.expiresIn, 'expires_in')) ?? lengthIn(said.expires) ?? secondsUntilEnd(said, now);
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    expiresInSeconds:
      told ?? (isRefresh || isToken(refreshToken) ? (tokenLifetimeSeconds ?? undefined) : undefined),
    refreshExpiresInSeconds: REFRESH_ENDS.map((name) => secondsIn(said[name])).find(
      (end) => end !== undefined,
    ),
    scopes: scopesIn(at(pointers.scope, 'scope')),
  };
}

/** The names under which upstreams say how long the refresh token lives: GitHub, Keycloak and Intuit have one each. */
const REFRESH_ENDS = ['refresh_token_expires_in', 'refresh_expires_in', 'x_refresh_token_expires_in'];

const MAX_SECONDS = 3_153_600_000; // a hundred years, so that every end is a date

/** Seconds, which some upstreams send as a text. */
function secondsIn(value: unknown): number | undefined {
  const seconds = numberIn(value);
  return seconds !== undefined && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

const numberIn = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*\d{1,13}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : undefined;
};

const LEAST_MOMENT = 1_000_000_000; // in 2001, or thirty years

/** Meta writes the length as `expires`, others the moment. */
const lengthIn = (value: unknown): number | undefined =>
  Number(numberIn(value)) < LEAST_MOMENT ? secondsIn(value) : undefined;

const LEAST_MILLISECONDS = 100_000_000_000; // a larger number of seconds would be a year after 5000

/** The seconds until the moment at which the token ends, for upstreams that name that in place of a length. */
function secondsUntilEnd(said: Said, now: Date): number | undefined {
  const value = said.expires_at ?? said.expires_on ?? said.expires;
  const number = numberIn(value);
  const end =
    number === undefined
      ? typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
        ? Date.parse(value)
        : Number.NaN
      : number < LEAST_MILLISECONDS
        ? number * 1000
        : number;
  return secondsIn((end - now.getTime()) / 1000);
}

/** GitHub takes blanks between scopes and answers with commas. An upstream that grants nothing sends an empty text. */
function scopesIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value) && typeof value !== 'string') return undefined;
  const said: unknown[] = Array.isArray(value) ? value : value.split(/[\s,]+/, MAX_READ);
  const scopes = said.filter((scope) => typeof scope === 'string' && scope !== '' && scope.length <= 256);
  return [...new Set(scopes.map(String))].slice(0, MAX_SCOPES);
}

const MAX_SCOPES = 200;
const MAX_READ = 1000; // scopes, the same one twice included

/** RFC 6901, without the index of a list. */
export function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((inner, name) => {
    const member = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, member)) return undefined;
    return (inner as Said)[member]; // an object with this member
  }, value);
}

const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= MAX_TOKEN_BYTES;

/** Types of tokens that are of no use without a key which the agent does not have. */
const BOUND_TYPES: ReadonlySet<string> = new Set(['dpop', 'mac', 'pop', 'n_a']);

/**
 * Whether an agent can use the token as it is. RFC 6749 demands a type, `Bearer` in any case; upstreams leave it out, or
 * write words of their own, such as Slack's `user`.
 */
export const isBearerAnswer = (said: Said): boolean =>
  !BOUND_TYPES.has(String(said.token_type ?? '').toLowerCase());
