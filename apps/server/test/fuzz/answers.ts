import { errorCodes } from '@behest/protocol/errors';
import { faultOfAnswer } from '../app/watched-routes.ts';
import type { Answer, SentRequest } from './client.ts';
import { type Draft, UNKNOWN_FIELD } from './requests.ts';

/** Headers of every answer, with their values for a JSON answer of the API. */
const STANDARD: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
};
const RATE = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** Internals of the service that would help an attacker. */
const INSIDE =
  /\n\s+at |node_modules|\.ts:\d|file:\/\/|\/(home|tmp|usr|work)\/|syntax error|SQLSTATE|duplicate key|violates|relation "|TypeError|RangeError|ECONN|Cannot read/;

/** A part of the service that its settings leave off says so with 503, and to HEAD without words. */
const isOff = ({ method }: Draft, { status, body }: Answer) =>
  status === 503 && (method === 'HEAD' || body.includes('"code":"NOT_CONFIGURED"'));

/** Whether an answer says with reason that the service does not do this here. */
export const isAbsent = (draft: Draft, answer: Answer): boolean =>
  isOff(draft, answer) || isNotOffered(draft, answer.status);

/** Everything that is wrong with an answer. */
export function faultsOf(draft: Draft, asked: SentRequest, answer: Answer): string[] {
  const { status, headers } = answer;
  const isAimed = draft.path === draft.route.url && draft.method === draft.route.method && !asked.raw;
  const isOfNoRoute = !isAimed || draft.broken.includes('an id');
  const faults: (string | false | undefined)[] = [
    status >= 500 && !isAbsent(draft, answer) && `the status is ${status}`,
    !(status >= 200) && 'there is no status',
    headers.server !== undefined && 'it names its software',
    headers['x-powered-by'] !== undefined && 'it names its software',
    ...standardFaults(answer),
    ...rateFaults(draft, answer, isAimed),
    ...requestIdFaults(asked, answer),
    status === 401 && !headers['www-authenticate'] && 'it does not say how to authenticate',
    status === 405 && !headers.allow && 'it does not say which methods there are',
    (status === 429) !== (headers['retry-after'] !== undefined) &&
      'Retry-After is there without 429, or 429 without',
    status === 204 &&
      (answer.body !== '' || headers['content-type'] !== undefined) &&
      'there is a body with 204',
    status === 304 && answer.body !== '' && 'there is a body with 304',
  ];
  if (status >= 400 && draft.method !== 'HEAD') faults.push(...refusalFaults(draft, answer));
  if (isAimed && !(isOfNoRoute && status === 404) && draft.method !== 'HEAD') {
    const declared = draft.route.schema?.response;
    const isText = Object(Object(declared)[status]).type === 'string'; // bytes, without a shape
    const type = String(headers['content-type'] ?? '');
    faults.push(
      faultOfAnswer(declared, { status, type, body: isText || status === 304 ? undefined : answer.body }),
    );
  }
  const isUnnamed = asked.target.split('?')[0]?.endsWith('/') && status === 404; // an empty id, which comes first
  const isClosed = status === 503 && answer.body.includes('"NOT_CONFIGURED"'); // to operators, as a refused key is
  if (mustRefuseField(draft) && !isUnnamed && !isClosed && ![400, 401, 403, 429].includes(status)) {
    faults.push(`an unknown field is answered ${status}`);
  }
  return faults.filter((fault) => typeof fault === 'string');
}

/** Pages and public documents have the headers too, with values of their own. */
function standardFaults({ headers }: Answer): string[] {
  const isOwn =
    headers['access-control-allow-origin'] === '*' || !/json/.test(headers['content-type'] ?? 'json');
  const isPlain = !isOwn && headers['cache-control'] === 'no-store';
  return Object.entries(STANDARD).flatMap(([name, value]) => {
    const given = headers[name];
    return given === undefined || (isPlain && given !== value) ? [`${name} is ${given}`] : [];
  });
}

function rateFaults({ route }: Draft, { headers }: Answer, isAimed: boolean): string[] {
  const values = RATE.map((name) => headers[name]);
  if (values.every((value) => value === undefined)) {
    return Object(route.config).rate === 'unlimited' ? [] : ['there are no rate headers'];
  }
  if (isAimed && Object(route.config).rate === 'unlimited') return ['there are rate headers'];
  const [limit = -1, remaining = -1] = values.map(Number);
  const areNumbers = values.every((value) => /^\d+$/.test(String(value)));
  return areNumbers && remaining <= limit ? [] : [`the rate headers are ${values}`];
}

function requestIdFaults({ headers, raw, target }: SentRequest, answer: Answer): string[] {
  const id = String(answer.headers['x-request-id'] ?? '');
  if (target.startsWith('/access/v1/')) return /^[!-~]{1,128}$/.test(id) ? [] : [`the request id is ${id}`];
  if (!/^[\w.-]{1,64}$/.test(id)) return [`the request id is ${id}`];
  const sent = raw ? [] : headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === 'x-request-id');
  const [one = ''] = sent;
  if (sent.length !== 1 || !/^[\w.-]{1,64}$/.test(one) || one === id) return [];
  return [`the request id ${one} is not kept`];
}

/** RFC 9110 §15.6.2: a part of a standard that the service leaves out, as the route declares. */
const isNotOffered = ({ route }: Draft, status: number) =>
  status === 501 && (Object(route.config).failures ?? []).includes('NOT_SUPPORTED');

/** A browser shows refusals as a page: at the routes of links, and where it follows a link without a credential. */
const isPageOfLink = ({ route, method, headers }: Draft) =>
  route.url === '/v1/signup/verify/:token' ||
  String(Object(route.config).errors).includes('page') ||
  (['GET', 'HEAD'].includes(method) &&
    headers.some(([name, value]) => name === 'accept' && /html/.test(value)));

function refusalFaults(draft: Draft, { status, headers, body }: Answer): string[] {
  const inside = INSIDE.exec(body)?.[0];
  const leak = inside ? [`the refusal says ${inside}`] : [];
  const type = String(headers['content-type']);
  if (type.startsWith('text/html') && isPageOfLink(draft)) return leak;
  if (!/^application\/(scim\+)?json/.test(type)) return ['the refusal is no JSON'];
  const refusal = JSON.parse(body);
  if (type.startsWith('application/scim+json')) {
    return refusal.status === String(status) && refusal.detail ? leak : ['the refusal is not of SCIM'];
  }
  if (Object(draft.route.config).errors === 'set' && 'err' in refusal) {
    return refusal.description ? leak : ['the refusal is not of RFC 8935'];
  }
  const { code, message, requestId, details, ...others } = refusal;
  if (/^oauth/.test(Object(draft.route.config).errors) && 'error' in refusal) return leak;
  const declared = Object.hasOwn(errorCodes, code) ? Object(errorCodes)[code].status : undefined;
  const faults = [
    declared !== status && `the code is ${code}`,
    (typeof message !== 'string' || message === '') && 'there is no message',
    requestId !== headers['x-request-id'] && 'the request id is another one in the body',
    Object.keys(others).length > 0 && `there is more: ${Object.keys(others)}`,
    details !== undefined && (typeof details !== 'object' || details === null) && 'the details are no object',
    code === 'RATE_LIMITED' && !/retry in \d+ seconds$/.test(message) && 'it does not say when to retry',
    status === 405 &&
      String(headers.allow) !== details?.allow?.join(', ') &&
      'Allow is not what the body says',
  ];
  return [...leak, ...faults.filter((fault) => fault !== false)];
}

function mustRefuseField({ broken, body, route, method }: Draft): boolean {
  const shape = Object(route.schema?.body);
  return (
    broken.length === 1 &&
    broken[0] === UNKNOWN_FIELD &&
    shape.additionalProperties === false &&
    ['POST', 'PUT', 'PATCH'].includes(method) &&
    Object.keys(Object(body)).some((name) => !Object.hasOwn(shape.properties ?? {}, name))
  );
}
