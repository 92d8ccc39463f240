import type { ProxyMethod, ProxyRule } from './proxy-rules.ts';

/** A segment of a pattern: a text, one segment under a name, or the rest of the path under a name. */
type Part = { readonly text: string } | { readonly name: string; readonly isRest: boolean };

const LONGEST_SEGMENT = 256;
const NAMED = /^\{([a-z][a-z0-9_]{0,63})(\+)?\}$/;
const LITERAL = /^[A-Za-z0-9._~!$&'()*+,=:@ -]*$/;

/**
 * Reads the path pattern of a rule: segments after `/`, each a text, `{name}`, or at the end `{name+}` for the rest.
 * Texts are written as they are after decoding.
 *
 * @returns undefined for a text that is no pattern
 */
export function readPattern(pattern: string): readonly Part[] | undefined {
  if (!pattern.startsWith('/')) return undefined;
  const texts = pattern.slice(1).split('/');
  const parts: Part[] = [];
  const names = new Set<string>();
  for (const [place, text] of texts.entries()) {
    const isLast = place === texts.length - 1;
    const named = NAMED.exec(text);
    if (named) {
      const [, name = '', rest] = named;
      if (names.has(name) || (rest !== undefined && !isLast)) return undefined;
      names.add(name);
      parts.push({ name, isRest: rest !== undefined });
      continue;
    }
    const isEmpty = text === '' && !isLast;
    if (isEmpty || text === '.' || text === '..' || !LITERAL.test(text)) return undefined;
    parts.push({ text });
  }
  return parts;
}

/** The names of a pattern that stand for one segment each. */
export const segmentNames = (pattern: string): readonly string[] =>
  (readPattern(pattern) ?? []).flatMap((part) => ('name' in part && !part.isRest ? [part.name] : []));

/**
 * Compares a path with a pattern, with regard to case. A slash at the end matches only a slash at the end.
 *
 * @param segments the path's segments, decoded; an empty last one is the slash at the end
 * @returns the segments by their names, or undefined where the path does not match
 */
export function matchPattern(
  pattern: string,
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const parts = readPattern(pattern);
  if (!parts) return undefined;
  const named: Record<string, string> = {};
  for (const [place, part] of parts.entries()) {
    const segment = segments[place];
    if (segment === undefined) return undefined;
    if ('text' in part) {
      if (segment !== part.text) return undefined;
    } else if (part.isRest) {
      const rest = segments.slice(place).join('/');
      return rest === '' ? undefined : { ...named, [part.name]: rest };
    } else {
      if (segment === '' || segment.length > LONGEST_SEGMENT) return undefined;
      named[part.name] = segment;
    }
  }
  return segments.length === parts.length ? named : undefined;
}

/** A request as far as rules look at it. */
export interface RuledRequest {
  readonly method: string;
  /** The alias of the upstream. */
  readonly upstream: string;
  readonly segments: readonly string[];
}

/** @returns the first rule for the request, with the segments that its path names */
export function matchRule(rules: readonly ProxyRule[], { method, upstream, segments }: RuledRequest) {
  for (const rule of rules) {
    const isMethod = rule.methods.includes(method as ProxyMethod); // another text is simply not there
    if (!isMethod || (rule.upstream !== undefined && rule.upstream !== upstream)) continue;
    const named = matchPattern(rule.path, segments);
    if (named) return { rule, named };
  }
  return undefined;
}

/** A fault of a list of rules: the member, and a sentence about it. */
export interface RuleFault {
  readonly field: string;
  readonly message: string;
}

/**
 * Finds the first rule that cannot be used.
 * @param field the member that holds the rules
 */
export function faultOfRules(rules: readonly ProxyRule[], field: string): RuleFault | undefined {
  const ids = new Set<string>();
  for (const [place, rule] of rules.entries()) {
    const at = `${field}[${place}]`;
    const { id, path, tool, unmapped, methods } = rule;
    if (ids.has(id)) return { field: `${at}.id`, message: 'Another rule has this id.' };
    ids.add(id);
    if (!readPattern(path)) {
      const form = 'A path begins with `/`, and has texts, `{name}`, or `{name+}` at its end.';
      return { field: `${at}.path`, message: form };
    }
    if ((tool === undefined) === (unmapped === undefined)) {
      return { field: at, message: 'A rule has exactly one of `tool` and `unmapped`.' };
    }
    if (!tool) continue;
    const { resource, amount, body = 'none' } = tool;
    if (resource !== undefined && !segmentNames(path).includes(resource.slice(1, -1))) {
      return { field: `${at}.tool.resource`, message: 'The path has no segment of this name.' };
    }
    if (amount !== undefined && body !== 'json') {
      return {
        field: `${at}.tool.amount`,
        message: 'The amount is read from a body, so `body` has to be `json`.',
      };
    }
    const isBodyless = methods.some((method) => method === 'GET' || method === 'HEAD');
    if (body !== 'none' && isBodyless) {
      return { field: `${at}.tool.body`, message: 'Requests with `GET` and `HEAD` have no body.' };
    }
  }
  return undefined;
}
