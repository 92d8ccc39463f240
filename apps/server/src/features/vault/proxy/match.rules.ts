import { storedEntries } from '@behest/protocol/caps-lineage';
import { matchRule } from '@behest/protocol/proxy-patterns';
import type { ProxyLimits, ProxyRule } from '@behest/protocol/proxy-rules';
import { parametersOf, type Target } from './target.rules.ts';

/** The reason of a refusal that the rules give. */
export type RuleRefusal = 'no_profile' | 'no_rule' | 'query' | 'unmapped' | 'origin';

/** A request, as far as rules look at it. */
export interface Ruled {
  readonly method: string;
  /** The alias of the upstream. */
  readonly upstream: string;
  readonly target: Target;
}

export interface Allowed {
  readonly rule: ProxyRule;
  readonly named: Readonly<Record<string, string>>;
}

/** Finds the first rule for the request, which has to allow the parameters of its query. */
export function allowedBy(
  rules: readonly ProxyRule[],
  { method, upstream, target }: Ruled,
): Allowed | RuleRefusal {
  const found = matchRule(rules, { method, upstream, segments: target.segments });
  if (!found) return 'no_rule';
  const { query } = found.rule;
  const names = parametersOf(target.query).map(({ name }) => name ?? '');
  const isAllowed = query ? names.every((name) => query.includes(name)) : !names.some(isMethodParameter);
  return isAllowed ? found : 'query';
}

/**
 * Whether some upstreams take the value under this name for the method of the request, for which other rules stand. PHP
 * reads a dot, a blank and a bracket in a name as `_`. A plain `method` is a parameter of many interfaces.
 */
export function isMethodParameter(name: string): boolean {
  const folded = name.toLowerCase().replaceAll(/[_.\s[]/g, '-');
  return folded !== 'method' && /^[-$]{0,8}(?:x-)?(?:http-?)?method(?:-?override)?$/.test(folded);
}

/** The limits of a credential, which come in addition to the rules of its service. */
interface CredentialLimits extends ProxyLimits {
  readonly frozen: { readonly origins: readonly string[] };
}

/**
 * Compares the request with the credential's own limits.
 * @param limits null for a credential that was stored without a profile, which goes nowhere
 */
export function refusalByCredential(
  limits: CredentialLimits | null,
  ruled: Ruled,
  { rule, origin }: { readonly rule: ProxyRule; readonly origin: string },
): RuleRefusal | undefined {
  if (!limits?.frozen.origins.includes(origin)) return 'origin';
  if (limits.upstreams && !limits.upstreams.includes(ruled.upstream)) return 'no_rule';
  if (!limits.rules) return undefined;
  const own = allowedBy(limits.rules, ruled);
  if (typeof own === 'string') return own;
  return isSameTool(own.rule, rule) ? undefined : 'no_rule';
}

/** Whether the rule asks for `Range`, and so does the credential's own rule, if it has one for the request. */
export function asksForRange(
  rule: ProxyRule,
  limits: ProxyLimits | null,
  { method, upstream, target }: Ruled,
) {
  const own = limits?.rules && matchRule(limits.rules, { method, upstream, segments: target.segments });
  return rule.range === true && (!own || own.rule.range === true);
}

/** A credential's rule that names a tool holds for requests that stand for that tool. */
const isSameTool = ({ tool: own }: ProxyRule, { tool }: ProxyRule) =>
  own === undefined || (own.connector === tool?.connector && own.tool === tool.tool);

/**
 * Whether a grant with entries for tools may use the rule: its requests have to stand for tools of connectors that the
 * grant names. Else the proxy would be the way round its limits.
 * @param details the stored details of the grant
 * @param above those of the grants above it, whose limits it may lack
 */
export function mayUseRule({ tool }: ProxyRule, details: unknown, above: readonly unknown[]): boolean {
  const own = storedEntries(details);
  const isLimited = own.length > 0 || above.some((each) => storedEntries(each).length > 0);
  return !isLimited || own.some(({ connector }) => connector === tool?.connector);
}

/**
 * The scope that allows a request through the proxy, beside those that allow the exchange.
 * @param byExchange the scope that would allow the exchange of the credential
 */
export function scopeFor(
  scopes: readonly string[],
  byExchange: string | undefined,
  { service, method }: { readonly service: string; readonly method: string },
): string | undefined {
  const own = [`vault:${service}:proxy`, 'vault:credentials:proxy'].find((scope) => scopes.includes(scope));
  if (own !== undefined) return own;
  const isRead = method === 'GET' || method === 'HEAD';
  const held = byExchange === `${service}:read` && !isRead ? otherThanRead(scopes, service) : byExchange;
  return held;
}

/** A scope of the exchange besides `<service>:read`, which only reads. */
const otherThanRead = (scopes: readonly string[], service: string) =>
  [
    `${service}:credentials:read`,
    `vault:${service}:*`,
    `vault:${service}:read`,
    'vault:credentials:exchange',
  ].find((scope) => scopes.includes(scope));

/** The value at a JSON pointer (RFC 6901); undefined where there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Reflect.get(at, name);
  }
  return at;
}
