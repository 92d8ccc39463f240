import { faultOfRules } from '@behest/protocol/proxy-patterns';
import { badField } from '../../../platform/errors.ts';
import { isNeverReturned } from './answer.rules.ts';
import type { NewProxyProfile, ProxyInjection } from './proxy.schema.ts';
import { isForbidden } from './request.rules.ts';

/** The operator's bounds, which a profile may only tighten. */
export interface ProxyBounds {
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
}

const MAX_UPSTREAMS = 5;

/**
 * Checks what the shape cannot say.
 * @param acceptsOrigin whether the operator's rules allow calls of a URL
 * @throws BAD_REQUEST
 */
export function mustBeProfile(
  profile: NewProxyProfile,
  bounds: ProxyBounds,
  acceptsOrigin: (text: string) => boolean,
): void {
  const { upstreams, rules, inject, headers = {}, forwardHeaders = [], returnHeaders = [] } = profile;
  const aliases = Object.keys(upstreams);
  if (aliases.length === 0) throw badField('upstreams', 'required', 'Name one to five upstreams.');
  if (aliases.length > MAX_UPSTREAMS) throw badField('upstreams', 'too_long');
  for (const [alias, origin] of Object.entries(upstreams)) {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (isOrigin && acceptsOrigin(origin)) continue;
    const message = 'Send the origin of a public host, such as `https://api.example.com`, without a path.';
    throw badField(`upstreams.${alias}`, 'not_allowed', message);
  }
  const hosts = Object.values(upstreams).map((origin) => origin.replace(/\.(?=:|$)/, ''));
  const again = aliases.find((_, place) => hosts.indexOf(hosts[place] ?? '') < place);
  if (again !== undefined) {
    const message =
      'Another upstream has this origin, so that a request could choose by which rules it is judged.';
    throw badField(`upstreams.${again}`, 'not_allowed', message);
  }
  const fault = faultOfRules(rules, 'rules');
  if (fault) throw badField(fault.field, 'not_allowed', fault.message);
  const ranged = profile.exchange === 'proxy_only' ? rules.findIndex(({ range }) => range === true) : -1;
  if (ranged >= 0) {
    const message =
      'With `exchange: "proxy_only"` no rule passes `Range` on: a credential could come back in parts.';
    throw badField(`rules[${ranged}].range`, 'not_allowed', message);
  }
  for (const [place, { upstream }] of rules.entries()) {
    if (upstream === undefined || aliases.includes(upstream)) continue;
    throw badField(`rules[${place}].upstream`, 'not_allowed', 'The profile has no upstream of this name.');
  }
  if (
    inject.style === 'header' &&
    isForbidden(inject.name) &&
    inject.name.toLowerCase() !== 'authorization'
  ) {
    throw badField('inject.name', 'not_allowed', 'The credential cannot travel in this header.');
  }
  const injected = injectedHeader(inject);
  for (const name of [...Object.keys(headers), ...forwardHeaders]) {
    if (!isForbidden(name) && name.toLowerCase() !== injected) continue;
    throw badField(`headers.${name}`, 'not_allowed', 'No profile may send this header.');
  }
  for (const name of returnHeaders) {
    if (!isNeverReturned(name)) continue;
    throw badField('returnHeaders', 'not_allowed', `The proxy never returns \`${name}\`.`);
  }
  for (const name of ['maxRequestBytes', 'maxResponseBytes'] as const) {
    const value = profile[name];
    if (value !== undefined && value > bounds[name]) {
      throw badField(name, 'too_large', `The operator's limit is ${bounds[name]}.`);
    }
  }
}

/** The header that carries the credential, in lower case. */
export function injectedHeader(inject: ProxyInjection): string | undefined {
  if (inject.style === 'query') return undefined;
  return inject.style === 'header' ? inject.name.toLowerCase() : 'authorization';
}

/** The credential in the form in which the upstream wants it. */
export function injectedValue(inject: ProxyInjection, secret: string): string {
  switch (inject.style) {
    case 'bearer':
      return `Bearer ${secret}`;
    case 'basic': {
      const pair = inject.username === undefined ? secret : `${inject.username}:${secret}`;
      return `Basic ${Buffer.from(pair).toString('base64')}`;
    }
    case 'header':
      return `${inject.prefix ?? ''}${secret}`;
    case 'query':
      return encodeURIComponent(secret);
  }
}
