import { JsonError, parseJson } from '@behest/protocol/json';
import type { EgressAnswer } from '../../../platform/egress/egress.ts';
import { type AnswerForm, isBearerAnswer, type NewTokens, tokensIn } from './tokens.rules.ts';

/** Why a person has to connect again, in this service's words. The upstream's are shown nowhere. */
type Refusal = 'invalid_grant' | 'interaction_required' | 'unreadable_refusal';

/** The meaning of a token endpoint's answer. */
export type TokenAnswer =
  | { readonly result: 'tokens'; readonly tokens: NewTokens; readonly said: Said }
  /** What was shown to the upstream is of no use any more, and only the person can mend that. */
  | { readonly result: 'refused'; readonly error: Refusal }
  /** The upstream refuses the client: the fault is the provider's and not the connection's. */
  | { readonly result: 'client_refused' }
  /** It may work another time. */
  | { readonly result: 'failed'; readonly retryAfterSeconds?: number | undefined };

type Said = Readonly<Record<string, unknown>>;

/**
 * Reads the answer of a token endpoint, as the great providers write it: with any status of success, with an error under
 * the status of success, as a form, with a byte-order mark.
 */
export function readTokenAnswer(answer: EgressAnswer, form: AnswerForm, now: Date): TokenAnswer {
  if (answer.failure !== undefined) return { result: 'failed' };
  const { status, headers, body } = answer;
  const said = membersIn(body);
  const isSuccess = status >= 200 && status <= 299;
  if (isSuccess && said && !isRefusal(said)) {
    const tokens = tokensIn(said, form, now);
    if (tokens && isBearerAnswer(said)) return { result: 'tokens', tokens, said };
  }
  const later = { result: 'failed', retryAfterSeconds: secondsToWait(headers['retry-after'], now) } as const;
  if (status === 429) return later;
  return (said ? meaningOf(said, status) : unreadable(status)) ?? later;
}

const unreadable = (status: number): TokenAnswer | undefined =>
  status === 400 || status === 401 ? { result: 'refused', error: 'unreadable_refusal' } : undefined;

const isRefusal = ({ ok, error }: Said): boolean =>
  ok === false ||
  ok === 'false' ||
  (error !== undefined && error !== null && error !== '' && error !== false);

/** The words that end a connection: its refresh token, or the person's account, is gone. */
const ENDED: ReadonlySet<string> = new Set([
  ...['invalid_grant', 'invalid_token', 'token_expired', 'expired_token', 'token_revoked'],
  ...['bad_refresh_token', 'invalid_refresh_token', 'expired_refresh_token', 'refresh_token_expired'],
  ...['invalid_auth', 'not_authed', 'account_inactive', 'inactive_user', 'user_not_found'],
  // A code that is over, at the callback. Zoho says the same of a refresh token.
  ...['invalid_code', 'bad_verification_code', 'bad_auth_code', 'expired_auth_code', 'code_already_used'],
]);

/** The words by which an upstream asks for the person, though the refresh token may live. */
const PERSON_WANTED: ReadonlySet<string> = new Set([
  ...['interaction_required', 'consent_required', 'login_required', 'account_selection_required'],
  ...['mfa_required', 'invalid_rapt', 'rapt_required', 'org_login_required', 'admin_policy_enforced'],
  'access_denied',
]);

/** The words that refuse the client itself. */
const CLIENT_WRONG: ReadonlySet<string> = new Set([
  ...['invalid_client', 'unauthorized_client', 'incorrect_client_credentials', 'bad_client_secret'],
  ...['bad_client_id', 'invalid_client_id', 'invalid_client_secret', 'invalid_client_credentials'],
  ...['deleted_client', 'disabled_client', 'application_suspended', 'application_cannot_be_found'],
]);

/** The words that promise another outcome at another time. */
const LATER: ReadonlySet<string> = new Set([
  ...['temporarily_unavailable', 'server_error', 'slow_down', 'rate_limit', 'ratelimited', 'rate_limited'],
  ...['rate_limit_exceeded', 'too_many_requests', 'internal_error', 'fatal_error', 'service_unavailable'],
]);

/** Sentences about a token that is of no use, beside a word that says less (Atlassian, Zoom, X, LinkedIn). */
const DEAD_TOKEN =
  /(?:\b|refresh_)token(?! ?(?:endpoint|type))\b[^.]{0,60}\b(?:invalid|expired|revoked|not valid|not found|another client|not issued)\b|\b(?:invalid|unknown|expired|revoked)\b[^.]{0,30}\b(?:refresh[_ ])?token(?! ?(?:endpoint|type))\b/i;

/** @returns undefined for an answer that says nothing of this */
function meaningOf(said: Said, status: number): TokenAnswer | undefined {
  const words = wordsIn(said);
  const has = (known: ReadonlySet<string>) => words.some((word) => known.has(word));
  if (has(LATER)) return undefined;
  // Auth0, and Atlassian with it, refuses a wrong secret so. Elsewhere it is the word of a person or an administrator.
  if (status === 401 && words.includes('access_denied')) return { result: 'client_refused' };
  if (has(PERSON_WANTED)) return { result: 'refused', error: 'interaction_required' };
  if (has(ENDED)) return { result: 'refused', error: 'invalid_grant' };
  // Atlassian says `unauthorized_client` of one person's token.
  const mayBeToken = !has(CLIENT_WRONG) || words.includes('unauthorized_client');
  if (mayBeToken && sentencesIn(said).some((sentence) => DEAD_TOKEN.test(sentence))) {
    return { result: 'refused', error: 'invalid_grant' };
  }
  return has(CLIENT_WRONG) ? { result: 'client_refused' } : undefined;
}

/** Where upstreams put the word of a refusal. OAuth has `error`; HubSpot, Meta, Fitbit and Okta have others. */
const WORD_MEMBERS = [
  'error',
  'status',
  'code',
  'type',
  'errorType',
  'errorCode',
  'error_code',
  'error_subtype',
];
const MAX_ERRORS = 10;

/** An answer, and what it says of its errors. */
function partsIn(said: Said): Said[] {
  const nested = [said.error, ...(Array.isArray(said.errors) ? said.errors.slice(0, MAX_ERRORS) : [])];
  return [said, ...nested.map((each) => (typeof each === 'string' ? { error: each } : Object(each)))];
}

const wordsIn = (said: Said): string[] =>
  partsIn(said).flatMap((each) => WORD_MEMBERS.flatMap((name) => wordOf(each[name])));

/** In small letters, with `_` between: `BAD_REFRESH_TOKEN`, `invalid grant` and `invalid_client: Invalid secret` are words. */
function wordOf(value: unknown): string[] {
  if (typeof value !== 'string' || value.length > 256) return [];
  const word = (value.split(':')[0] ?? '').trim().toLowerCase().replaceAll(/[ -]/g, '_');
  return /^[a-z][a-z_]*$/.test(word) && word !== 'error' ? [word] : [];
}

/** Where upstreams put the sentence of a refusal: beside the word, in its place, or in a list. */
const SENTENCE_MEMBERS = [
  ...['error', 'error_description', 'message', 'reason', 'detail', 'description'],
  ...['errorSummary', 'error_message', 'errorMessage', 'errmsg', 'msg'],
];

const sentencesIn = (said: Said): string[] =>
  partsIn(said).flatMap((each) =>
    SENTENCE_MEMBERS.flatMap((name) => {
      const value = each[name];
      return typeof value === 'string' ? [value.slice(0, 512)] : [];
    }),
  );

const MAX_WAIT_SECONDS = 86_400;

/** RFC 9110, section 10.2.3: seconds, or a date. At most a day. */
function secondsToWait(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return seconds > 0 ? Math.min(seconds, MAX_WAIT_SECONDS) : undefined;
}

const MAX_MEMBERS = 1000;
const LONGEST_FORM = 65_536; // characters, for two tokens of the largest kind

/** @returns undefined for anything but an object, as JSON or as a form */
function membersIn(bytes: Buffer): Said | undefined {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = hasMark ? bytes.subarray(3) : bytes;
  try {
    const value = parseJson(body, MAX_MEMBERS);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof JsonError) return formIn(body);
    throw error;
  }
}

/** GitHub, and others that are old, answer with a form. Its type is not asked for: some send it as a page. */
function formIn(body: Buffer): Said | undefined {
  const text = body.toString().trim();
  if (text.length > LONGEST_FORM || !/^[\w.~%+-]+=[^\s<{"]*$/.test(text)) return undefined;
  const form = new URLSearchParams(text);
  return form.has('access_token') || form.has('error') ? Object.fromEntries(form) : undefined;
}
