import { english } from './english.ts';
import { isKnownPurpose } from './purposes.ts';
import { filled, type Say } from './rule-words.ts';
import { parseToolScope, type ToolScope } from './tool-scopes.ts';

/** Letters, digits and joiners alone, so that a scope cannot show a sentence of its own. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const JOINERS = /[_.-]+/g;

/**
 * Describes a scope in words, for the person who decides about it. A scope without a known meaning stays as it is
 * written.
 *
 * @param own the developer's own descriptions, by scope; they come first
 * @param say gives a text of `english` in another language, with the same names in braces
 *
 * @example
 * ```ts
 * scopeInWords('calendar:read'); // 'Read your calendar'
 * scopeInWords('tool:crm:read'); // 'Read with crm'
 * ```
 */
export function scopeInWords(
  scope: string,
  own: Readonly<Record<string, string>> = {},
  say: Say = inEnglish,
): string {
  const described = Object.hasOwn(own, scope) ? own[scope] : undefined;
  if (described !== undefined) return described;
  if (scope.startsWith('tool:')) {
    const tool = parseToolScope(scope);
    return tool ? toolInWords(tool, say) : scope;
  }
  if (scope === '*') return say(english.everything);
  return credentialInWords(scope, say) ?? permissionInWords(scope, say) ?? scope;
}

const inEnglish: Say = (text) => text;

const MAX_LANGUAGES = 10;

/** Reads the languages of `Accept-Language`, the most wanted first. @see RFC 9110, section 12.5.4 */
export function wantedLanguages(header = ''): string[] {
  const wanted = header
    .slice(0, 512)
    .split(',', MAX_LANGUAGES)
    .flatMap((part) => {
      const [, tag, q = '1'] =
        /^([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)(?:\s*;\s*q=([01](?:[.][0-9]{0,3})?))?$/.exec(part.trim()) ??
        [];
      return tag !== undefined && Number(q) > 0 ? [{ tag, weight: Number(q) }] : [];
    });
  return wanted.toSorted((one, other) => other.weight - one.weight).map(({ tag }) => tag);
}

/**
 * Chooses among languages by lookup (RFC 4647): `de-AT` takes `de`, and `pt` takes `pt-BR`.
 *
 * @returns undefined where the words that name no language fit best; they count as English
 */
export function chosenLanguage(wanted: readonly string[], offered: readonly string[]): string | undefined {
  for (const tag of wanted) {
    const lower = tag.toLowerCase();
    const primary = lower.split('-', 1)[0] ?? lower;
    const found =
      offered.find((one) => one.toLowerCase() === lower) ??
      offered.find((one) => lower.startsWith(`${one.toLowerCase()}-`)) ??
      offered.find((one) => one.toLowerCase().startsWith(`${primary}-`));
    if (found !== undefined) return found;
    if (primary === 'en') return undefined;
  }
  return undefined;
}

/** Describes a purpose in words. A private purpose is shown in the words of its organisation. */
export function purposeLabel(purpose: string, say: Say = inEnglish): string {
  if (isKnownPurpose(purpose)) return say(english.purposes[purpose]);
  const [, organisation, term] = /^x-([a-z0-9-]+)[.]([a-z0-9_.]+)$/.exec(purpose) ?? [];
  if (organisation === undefined || term === undefined) return purpose;
  return filled(say(english.privatePurpose), { organisation, term: spaced(term) });
}

/**
 * Writes a lifetime in words, exactly, and with days from two days on.
 *
 * @example
 * ```ts
 * durationInWords(86_400); // 'for 24 hours'
 * durationInWords(5_400); // 'for 1 hour and 30 minutes'
 * durationInWords(2_592_000); // 'for 30 days'
 * ```
 */
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

function toolInWords({ connector, level, resource, cap }: ToolScope, say: Say): string {
  const named = connector === '*' ? say(english.everyConnector) : connector;
  let permission = filled(say(english.toolLevels[level]), { connector: named });
  if (resource?.endsWith('*')) {
    permission = filled(say(english.onlyPrefix), { permission, prefix: resource.slice(0, -1) });
  } else if (resource) permission = filled(say(english.onlyResource), { permission, resource });
  return cap === undefined ? permission : filled(say(english.cap), { permission, amount: cap });
}

/** Describes the scopes of the vault. */
function credentialInWords(scope: string, say: Say): string | undefined {
  if (scope === 'vault:credentials:exchange' || scope === 'vault:*') return say(english.anyCredential);
  const [, before, after] = /^(?:vault:([^:*]+):(?:read|[*])|([^:*]+):credentials:read)$/.exec(scope) ?? [];
  const service = before ?? after;
  return service && RESOURCE_NAME.test(service) ? filled(say(english.credential), { service }) : undefined;
}

function permissionInWords(scope: string, say: Say): string | undefined {
  const [resource = '', permission = '', more] = scope.split(':');
  if (more !== undefined || !RESOURCE_NAME.test(resource)) return undefined;
  const phrase = english.permissions.get(permission);
  return phrase && filled(say(phrase), { resource: spaced(resource) });
}

function spaced(name: string): string {
  return name.replace(JOINERS, ' ').trim();
}
