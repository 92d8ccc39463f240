import { english } from './english.ts';
import { isKnownPurpose } from './purposes.ts';
import { parseToolScope, type ToolScope } from './tool-scopes.ts';

/** Nothing but letters, digits and what joins words, so that a scope cannot write sentences of its own. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const JOINERS = /[_.-]+/g;

/**
 * Says in words what a scope allows, for the person who decides about it. Scopes that mean nothing known
 * are shown as they are written.
 *
 * @param own the developer's own descriptions, by scope; they come first
 */
export function scopeInWords(scope: string, own: Readonly<Record<string, string>> = {}): string {
  const described = Object.hasOwn(own, scope) ? own[scope] : undefined;
  if (described !== undefined) return described;
  if (scope.startsWith('tool:')) {
    const tool = parseToolScope(scope);
    return tool ? toolInWords(tool) : scope;
  }
  if (scope === '*') return english.everything;
  return credentialInWords(scope) ?? permissionInWords(scope) ?? scope;
}

/** Says in words what a grant may be used for; a private purpose in those of its organisation. */
export function purposeLabel(purpose: string): string {
  if (isKnownPurpose(purpose)) return english.purposes[purpose];
  const [, organisation, term] = /^x-([a-z0-9-]+)[.]([a-z0-9_.]+)$/.exec(purpose) ?? [];
  if (organisation === undefined || term === undefined) return purpose;
  return english.privatePurpose(organisation, spaced(term));
}

/** `for 24 hours`, `for 30 days`, `for 1 hour and 30 minutes`; exact, and in days from two days on. */
export function durationInWords(seconds: number): string {
  const days = seconds < 2 * 86_400 ? 0 : Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const { units } = english;
  const parts = [
    days && units.days(days),
    Math.floor(rest / 3_600) && units.hours(Math.floor(rest / 3_600)),
    Math.floor((rest % 3_600) / 60) && units.minutes(Math.floor((rest % 3_600) / 60)),
    rest % 60 && units.seconds(rest % 60),
  ].filter((part) => typeof part === 'string');
  return english.duration(parts.length > 0 ? parts : [units.seconds(0)]);
}

function toolInWords({ connector, level, resource, cap }: ToolScope): string {
  const phrase = english.toolLevels[level](connector === '*' ? english.everyConnector : connector);
  const only = resource?.endsWith('*')
    ? english.onlyPrefix(resource.slice(0, -1))
    : resource && english.onlyResource(resource);
  return `${phrase}${only ?? ''}${cap === undefined ? '' : english.cap(cap)}`;
}

/** The scopes that were made for the vault. @see the interface specification, vault exchange, rule 2 */
function credentialInWords(scope: string): string | undefined {
  if (scope === 'vault:credentials:exchange' || scope === 'vault:*') return english.anyCredential;
  const [, before, after] = /^(?:vault:([^:*]+):(?:read|[*])|([^:*]+):credentials:read)$/.exec(scope) ?? [];
  const service = before ?? after;
  return service && RESOURCE_NAME.test(service) ? english.credential(service) : undefined;
}

function permissionInWords(scope: string): string | undefined {
  const [resource = '', permission = '', more] = scope.split(':');
  if (more !== undefined || !RESOURCE_NAME.test(resource)) return undefined;
  return english.permissions.get(permission)?.(spaced(resource));
}

function spaced(name: string): string {
  return name.replace(JOINERS, ' ').trim();
}
