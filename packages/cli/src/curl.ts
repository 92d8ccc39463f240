/** Endings of the names of members that are secrets, in bodies and forms. */
const SECRET = /(?:token|secret|password|assertion)$/i;
/** Other members that are secrets: texts that prove something, and addresses that take posts from everybody. */
const SECRETS = new Set(
  'apiKey code codeVerifier code_verifier auth_req_id device_code user_code credential passport authorization authorization_header sdJwt vcJwt decisionGrants webhookUrl'.split(
    ' ',
  ),
);
/** Members that hold no secrets, under the names of secrets: where in an answer they stand. */
const POINTERS = 'tokenPointers';
/** Stands before and behind the name of a variable until the text is quoted. It is in no text of a request. */
const MARK = '\u{e000}';

/**
 * The request as a person would type it. Secrets are variables.
 *
 * @param key the API key of the request, where it has one
 */
export function curlOf(
  url: string,
  { method = 'GET', headers, body }: RequestInit,
  key: string | undefined,
): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  const named = new Headers(headers);
  for (const [name, value] of named) {
    if (name === 'user-agent' || name === 'accept' || name === 'idempotency-key') continue;
    if (name === 'authorization') {
      const variable = key !== undefined && value.endsWith(key) ? 'BEHEST_API_KEY' : 'TOKEN';
      lines.push(`-H "authorization: ${value.split(' ')[0]} $${variable}"`);
    } else if (SECRET_HEADER.test(name)) lines.push(`-H "${name}: $${variableOf(name)}"`);
    else lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (typeof body === 'string') lines.push(`-d ${bodyOf(body, named.get('content-type') ?? '')}`);
  return lines.join(' \\\n  ');
}

/** Headers that hold credentials, decisions of people among them. */
const SECRET_HEADER = /^(?:dpop|cookie|proxy-authorization)$|-(?:grants?|key|token|secret)$/;

function bodyOf(body: string, type: string): string {
  const text = type.startsWith('application/x-www-form-urlencoded')
    ? formOf(body)
    : /[/+]json\b/.test(type)
      ? jsonOf(body)
      : body;
  return quoted(text).replaceAll(MARKED, (_, variable: string) => `'"$${variable}"'`);
}

/** A body for an upstream may be no JSON, whatever its type says. */
function jsonOf(body: string): string {
  try {
    return JSON.stringify(hiding(JSON.parse(body)));
  } catch {
    return body;
  }
}

const MARKED = new RegExp(`${MARK}(\\w+)${MARK}`, 'gu');

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const marked = (name: string) => `${MARK}${variableOf(name)}${MARK}`;

/** `codeVerifier` is `CODE_VERIFIER`. */
const variableOf = (name: string) =>
  name
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll('-', '_')
    .toUpperCase();

const isSecret = (name: string) => SECRET.test(name) || SECRETS.has(name);

/** Puts variables in the place of secrets. Members of a list have the name of the list. */
function hiding(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return isSecret(name) ? marked(name) : value;
  if (Array.isArray(value)) return value.map((each: unknown) => hiding(each, name));
  if (typeof value !== 'object' || value === null || name === POINTERS) return value;
  return Object.fromEntries(Object.entries(value).map(([member, held]) => [member, hiding(held, member)]));
}

/** Text of a form is percent-encoded, so that the mark is not in it. */
const formOf = (form: string) =>
  form
    .replaceAll("'", '%27')
    .replaceAll(/(^|&)(\w+)=[^&]*/g, (all, before: string, name: string) =>
      isSecret(name) ? `${before}${name}=${marked(name)}` : all,
    );
