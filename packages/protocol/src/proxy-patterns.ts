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
  const tools: ToolPath[] = [];
  for (const [place, rule] of rules.entries()) {
    const at = `${field}[${place}]`;
    const { id, path, tool, unmapped, methods } = rule;
    if (ids.has(id)) return { field: `${at}.id`, message: 'Another rule has this id.' };
    ids.add(id);
    const parts = readPattern(path);
    if (!parts) {
      const form = 'A path begins with `/`, and has texts, `{name}`, or `{name+}` at its end.';
      return { field: `${at}.path`, message: form };
    }
    if ((tool === undefined) === (unmapped === undefined)) {
      return { field: at, message: 'A rule has exactly one of `tool` and `unmapped`.' };
    }
    const spelled = { rule, parts: foldedParts(parts) };
    const covered = tools.find((earlier) => coversAnotherSpelling(spelled, earlier));
    if (covered) {
      const message = `The rule covers other spellings of the path of \`${covered.rule.id}\`, with a slash at the end, in another case or encoding, which the upstream may take for the same. Write a narrower path, or put the same tool here.`;
      return { field: `${at}.path`, message };
    }
    if (!tool) continue;
    tools.push(spelled);
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

/** A rule with its path, ready to be compared. */
interface ToolPath {
  readonly rule: ProxyRule;
  readonly parts: readonly FoldedPart[];
}

type FoldedPart = { readonly text: string; readonly folded: string } | { readonly isRest: boolean };

const foldedParts = (parts: readonly Part[]): readonly FoldedPart[] =>
  parts.map((part) => ('text' in part ? { text: part.text, folded: part.text.toLowerCase() } : part));

/**
 * Whether a later rule takes a path that the earlier one does not, and that an upstream may read as a path of the earlier:
 * with or without a slash at its end, in another case, or encoded once more.
 */
function coversAnotherSpelling(later: ToolPath, earlier: ToolPath): boolean {
  const { upstream, methods, tool } = later.rule;
  const { rule } = earlier;
  if (upstream !== undefined && rule.upstream !== undefined && upstream !== rule.upstream) return false;
  if (!methods.some((method) => rule.methods.includes(method)) || isSameTool(tool, rule.tool)) return false;
  return spellsAnother(withoutSlash(earlier.parts), later.parts, hasSlash(earlier.parts));
}

function spellsAnother(
  path: readonly FoldedPart[],
  later: readonly FoldedPart[],
  endsInSlash: boolean,
): boolean {
  const other = withoutSlash(later);
  let isOther = false;
  for (let place = 0; ; place += 1) {
    const [mine, its] = [path[place], other[place]];
    if (mine === undefined && its === undefined) return isOther || hasSlash(later) !== endsInSlash;
    if (mine && 'isRest' in mine && mine.isRest) return isOther && its !== undefined;
    if (its && 'isRest' in its && its.isRest) return mine !== undefined; // a rest may end in a slash, and be encoded
    if (mine === undefined || its === undefined) return false;
    if (!('text' in mine)) continue;
    if ('text' in its && its.folded !== mine.folded) return false;
    isOther ||= !('text' in its) || its.text !== mine.text;
  }
}

const hasSlash = (parts: readonly FoldedPart[]): boolean => {
  const last = parts.at(-1);
  return last !== undefined && 'text' in last && last.text === '';
};

const withoutSlash = (parts: readonly FoldedPart[]) => (hasSlash(parts) ? parts.slice(0, -1) : parts);

/** Whether a call means the same to enforcement under both, so that it does not matter which of them it meets. */
const isSameTool = (one: ProxyRule['tool'], other: ProxyRule['tool']): boolean =>
  one !== undefined &&
  one.connector === other?.connector &&
  one.tool === other.tool &&
  one.amount === other.amount &&
  one.body === other.body &&
  (one.resource === undefined) === (other.resource === undefined);
