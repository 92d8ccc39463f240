import { readEntryRules } from '@behest/protocol/arguments/entry-rules';
import type { Rules } from '@behest/protocol/arguments/rules';
import { reportTo } from '@behest/protocol/field-reports';
import { isPurpose } from '@behest/protocol/purposes';
import type { ReadScope } from '@behest/protocol/scopes';
import { isWithin, type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { Conditions, Network, ParsedPolicyRequest, Policy } from './match.rules.ts';
import { isPrefix, isZone, levelOf, readNetwork } from './match.rules.ts';

/** Refuses conditions that would match never or always, which no author means. @throws BAD_REQUEST */
export function mustBeConditions(policy: Conditions): void {
  mustBeTimes(policy);
  mustBeListed(
    'purposes',
    policy.purposes,
    isPurpose,
    'A purpose is one of the vocabulary, or `x-<org>.<term>`.',
  );
  const isNetwork = (text: string) => readNetwork(text) !== undefined;
  mustBeListed('networks', policy.networks, isNetwork, 'A network is like `10.0.0.0/8` or `2001:db8::/32`.');
  const { depthMin, depthMax } = policy;
  if (depthMin !== null && depthMax !== null && depthMin > depthMax) {
    throw badField('delegationDepthMax', 'too_small');
  }
  mustBeCall(policy);
}

function mustBeTimes({ dayStart, dayEnd, timeZone, daysOfWeek }: Conditions): void {
  if ((dayStart === null) !== (dayEnd === null)) {
    throw badField(dayStart === null ? 'timeOfDayStart' : 'timeOfDayEnd', 'required');
  }
  if (dayStart !== null && dayStart === dayEnd) {
    const why = 'Hours that end where they begin would match never or always.';
    throw badField('timeOfDayEnd', 'not_allowed', why);
  }
  if (timeZone === null) return;
  if (!isZone(timeZone))
    throw badField('timeZone', 'format', 'A zone has an IANA name, such as `Europe/Berlin`.');
  if (dayStart === null && daysOfWeek === null) {
    throw badField('timeZone', 'not_allowed', 'A zone belongs to days or times of day.');
  }
}

function mustBeListed(
  field: string,
  list: readonly string[] | null,
  isRight: (text: string) => boolean,
  form: string,
): void {
  const wrong = list?.findIndex((text) => !isRight(text)) ?? -1;
  if (wrong !== -1) throw badField(`${field}.${wrong}`, 'format', form);
}

function mustBeCall({ connector, tools, argumentRules }: Conditions): void {
  if (connector === null && (tools !== null || argumentRules !== null))
    throw badField('connector', 'required');
  for (const tool of Object.keys(argumentRules ?? {})) {
    if (tools !== null && !tools.some((pattern) => isWithin(pattern, tool))) {
      throw badField(`arguments.${tool}`, 'not_allowed', '`tools` does not name this tool.');
    }
  }
}

/** @throws BAD_REQUEST */
export function acceptArguments(value: object): Readonly<Record<string, Rules>> {
  const faults: Parameters<typeof reportTo>[0] = [];
  const read = readEntryRules(value, { path: 'arguments', report: reportTo(faults) });
  if (!read || faults.length > 0) {
    throw new AppError('BAD_REQUEST', 'The request is not valid.', { fields: faults });
  }
  return read;
}

/** A text under which policies are found. A key is exact when each request that asks for it overlaps the scope. */
interface Key {
  readonly text: string;
  readonly isExact: boolean;
}

/** More colons than this in a scope have the same key. */
const MAX_COLONS = 8;
/** Stands for every connector in keys of denials. No connector has this name. */
const EVERY = '>';

const exact = (text: string): Key => ({ text, isExact: true });
const rough = (text: string): Key => ({ text, isExact: false });

/** `a:b:c` begins with `a:` and `a:b:`. */
function stemsOf(text: string, most = Number.POSITIVE_INFINITY): string[] {
  const stems: string[] = [];
  for (let at = text.indexOf(':'); at !== -1 && stems.length < most; at = text.indexOf(':', at + 1)) {
    stems.push(text.slice(0, at + 1));
  }
  return stems;
}

/** `a:*` covers the texts that begin with `a:`. */
const stemOf = ({ text, isTool }: ReadScope): string | undefined =>
  !isTool && text.endsWith(':*') ? text.slice(0, -1) : undefined;

/** The keys of a scope that covers others. */
function plainKeys(scope: ReadScope): Key[] {
  if (scope.text === '*') return [exact('*')];
  const stem = stemOf(scope);
  return stem === undefined ? [exact(`=${scope.text}`)] : [exact(`=${scope.text}`), exact(`^${stem}`)];
}

const keysOverPlain = ({ text }: ReadScope): string[] => [
  '*',
  `=${text}`,
  ...stemsOf(text).map((stem) => `^${stem}`),
];

/** The keys under which a scope of a permission is found. */
export function coverKeys(scope: ReadScope): Key[] {
  const { tool } = scope;
  if (!tool) return plainKeys(scope);
  const { connector, resource } = tool;
  if (resource === undefined) return [rough(`t${connector}`)];
  const own = rough(`r${connector} ${resource}`);
  return isPrefix(resource) ? [own, rough(`q${connector} ${resource.slice(0, -1)}`)] : [own];
}

/** The keys of the scopes that may cover this one. @param hasPrefixes whether any policy names a prefix of resources */
export function keysAskedOfCovers(scope: ReadScope, hasPrefixes: boolean): string[] {
  const { tool } = scope;
  if (!tool) return keysOverPlain(scope);
  const { resource } = tool;
  return [...new Set([tool.connector, '*'])].flatMap((connector) => [
    `t${connector}`,
    ...(resource === undefined ? [] : [`r${connector} ${resource}`]),
    ...(hasPrefixes && resource !== undefined ? prefixKeys(`q${connector} `, resource) : []),
  ]);
}

const prefixKeys = (before: string, resource: string) =>
  Array.from({ length: resource.length + 1 }, (_, length) => before + resource.slice(0, length));

/** The keys under which a scope of a denial is found. */
export function denyKeys(scope: ReadScope): Key[] {
  const { tool, text } = scope;
  if (tool) return [tool.connector, EVERY].flatMap((connector) => deniedTool(connector, tool));
  if (text === '*') return [exact('*'), exact('>')];
  const stems = stemsOf(text, MAX_COLONS);
  // A request for `a:*` asks for what is below `a:`, and one for `*` for everything.
  const below = stems.map((stem, place) => (place + 1 < MAX_COLONS ? exact(`>${stem}`) : rough(`>${stem}`)));
  return [...plainKeys(scope), exact('>'), ...below];
}

function deniedTool(connector: string, tool: ToolScope): Key[] {
  const { resource } = tool;
  const place = `${connector} ${levelOf(tool)}`;
  if (resource === undefined) return [exact(`t${place}`)];
  const within = [exact(`a${place}`), rough(`p${place}`)];
  return isPrefix(resource)
    ? [...within, exact(`q${place} ${resource.slice(0, -1)}`)]
    : [...within, exact(`r${place} ${resource}`)];
}

/** The keys of the denied scopes that may overlap this one. @param hasPrefixes as above */
export function keysAskedOfDenials(scope: ReadScope, hasPrefixes: boolean): string[] {
  const { tool, text } = scope;
  if (tool) return ['*', ...deniedToolsAsked(tool, hasPrefixes)];
  if (text === '*') return ['*', '>'];
  const stem = stemOf(scope);
  const below =
    stem === undefined
      ? []
      : stemsOf(stem, MAX_COLONS)
          .slice(-1)
          .map((known) => `>${known}`);
  return [...keysOverPlain(scope), ...below];
}

function deniedToolsAsked(tool: ToolScope, hasPrefixes: boolean): string[] {
  const { connector, resource } = tool;
  const connectors = connector === '*' ? [EVERY] : [connector, '*'];
  const levels = toolLevels.slice(0, levelOf(tool) + 1).map((_, level) => level);
  return connectors.flatMap((name) =>
    levels.flatMap((level) => {
      const place = `${name} ${level}`;
      if (resource === undefined) return [`t${place}`, `a${place}`];
      if (isPrefix(resource)) return [`t${place}`, `p${place}`];
      const prefixes = hasPrefixes ? prefixKeys(`q${place} `, resource) : [];
      return [`t${place}`, `r${place} ${resource}`, ...prefixes];
    }),
  );
}

/**
 * The further conditions under which a policy is looked up. Policies of one shape are found by one key: the request's purpose,
 * its network cut to a length, its tool cut to a length and its depth cut to some bits. So a request asks once for each
 * shape, however many policies there are.
 *
 * @see V. Srinivasan et al., "Packet classification using tuple space search", SIGCOMM 1999
 */
export interface Shape {
  readonly hasPurpose: boolean;
  /** Unknown holds the policies that restrict where the address of the caller is not known. */
  readonly network: Pick<Network, 'width' | 'length'> | 'unknown' | null;
  /** A whole name, or a prefix of this many characters. */
  readonly tool: 'whole' | number | null;
  /** The depth without so many of its last bits. */
  readonly depth: number | null;
}

/** A key under which a policy is filed, among the policies of a shape. */
interface Place {
  readonly shape: Shape;
  readonly key: string;
}

/** The places of a policy and its conditions that no place says, as a text. */
interface Placing {
  readonly places: readonly Place[];
  readonly conditions: string;
}

/** More places than this for one policy are not made: then fewer conditions are looked up. */
const MAX_PLACES = 128;
const DEEPEST = 255;
const DEPTH_BITS = 8;

type Part<Of> = readonly (readonly [of: Of, key: string])[];

export function placingOf(policy: Policy, networks: readonly Network[] | null): Placing {
  const purposes: Part<boolean> =
    policy.purposes === null ? [[false, '']] : [...new Set(policy.purposes)].map((each) => [true, each]);
  let [depths, tools, nets] = [depthsOf(policy), toolsOf(policy), networksOf(policy, networks)];
  const count = () => (depths?.length ?? 1) * (tools?.length ?? 1) * (nets?.length ?? 1);
  if (count() > MAX_PLACES) depths = undefined;
  if (count() > MAX_PLACES && (tools?.length ?? 1) > (nets?.length ?? 1)) tools = undefined;
  if (count() > MAX_PLACES) nets = undefined;

  const places: Place[] = [];
  for (const [hasPurpose, purpose] of purposes) {
    for (const [network, net] of nets ?? NOT_TOLD) {
      for (const [tool, name] of tools ?? NOT_TOLD) {
        for (const [depth, bits] of depths ?? NOT_TOLD) {
          places.push({ shape: { hasPurpose, network, tool, depth }, key: keyOf(purpose, net, name, bits) });
        }
      }
    }
  }
  return { places, conditions: conditionsOf(policy, { nets, tools, depths }) };
}

const NOT_TOLD: Part<null> = [[null, '']];

const keyOf = (...parts: readonly string[]) => parts.join('\n');

/** Two shapes with the same text are the same shape. */
export function shapeText({ hasPurpose, network, tool, depth }: Shape): string {
  const net = typeof network === 'object' && network ? `${network.width}/${network.length}` : network;
  return `${hasPurpose} ${net} ${tool} ${depth}`;
}

/** @returns the key of a request among the policies of a shape; undefined where none of them matches */
export function keyAsked(
  { hasPurpose, network, tool, depth }: Shape,
  asked: ParsedPolicyRequest,
): string | undefined {
  if (hasPurpose && !asked.purpose) return undefined;
  const net = network === null ? '' : netAsked(network, asked.network);
  const name = tool === null ? '' : toolAsked(tool, asked.call);
  if (net === undefined || name === undefined) return undefined;
  const bits = depth === null ? '' : String(Math.min(asked.delegationDepth ?? 0, DEEPEST) >> depth);
  return keyOf(hasPurpose ? (asked.purpose ?? '') : '', net, name, bits);
}

function networksOf({ effect }: Policy, networks: readonly Network[] | null) {
  if (networks === null) return undefined;
  const known: Part<Shape['network']> = networks.map((network) => [network, String(network.prefix)]);
  // An address that is not known meets each list of a policy that restricts.
  return effect === 'allow' ? known : [...known, ['unknown', ''] as const];
}

function netAsked(shape: NonNullable<Shape['network']>, asked: Network | undefined): string | undefined {
  if (shape === 'unknown') return asked ? undefined : '';
  if (asked?.width !== shape.width || asked.length < shape.length) return undefined;
  return String(asked.prefix >> BigInt(asked.length - shape.length));
}

function toolsOf({ connector, tools }: Policy): Part<Shape['tool']> | undefined {
  if (connector === null) return undefined;
  return (tools ?? ['*']).map((pattern) => {
    const isPrefix = pattern.endsWith('*');
    const name = isPrefix ? pattern.slice(0, -1) : pattern;
    return [isPrefix ? name.length : 'whole', `${connector} ${name}`];
  });
}

function toolAsked(shape: NonNullable<Shape['tool']>, call: ParsedPolicyRequest['call']): string | undefined {
  if (!call) return undefined;
  if (shape === 'whole') return `${call.connector} ${call.tool}`;
  return call.tool.length < shape ? undefined : `${call.connector} ${call.tool.slice(0, shape)}`;
}

/** The fewest groups of depths that begin with the same bits, which are together those of the policy. */
function depthsOf({ depthMin, depthMax }: Policy): Part<number> | undefined {
  if (depthMin === null && depthMax === null) return undefined;
  const groups: [bits: number, key: string][] = [];
  const last = Math.min(depthMax ?? DEEPEST, DEEPEST);
  for (let from = depthMin ?? 0; from <= last; ) {
    let bits = 0;
    while (bits < DEPTH_BITS && from % (2 << bits) === 0 && from + (2 << bits) - 1 <= last) bits += 1;
    groups.push([bits, String(from >> bits)]);
    from += 1 << bits;
  }
  return groups;
}

/** A text that is the same for policies with the same conditions besides those of their place, agent, principal and scopes. */
function conditionsOf(policy: Policy, placed: { nets: unknown; tools: unknown; depths: unknown }): string {
  const { dayStart, dayEnd, timeZone, daysOfWeek, argumentRules } = policy;
  const networks = placed.nets ? null : policy.networks;
  const [depthMin, depthMax] = placed.depths ? [null, null] : [policy.depthMin, policy.depthMax];
  const [connector, tools] = placed.tools ? [null, null] : [policy.connector, policy.tools];
  const plain = [dayStart, dayEnd, timeZone, daysOfWeek, depthMin, depthMax, connector, tools];
  const own = [...plain, networks, argumentRules];
  if (own.every((condition) => condition === null)) return NO_OTHERS;
  // An unknown address and arguments that break the rules are the other way round for a permission.
  const isTurned = (networks ?? argumentRules) !== null && policy.effect === 'allow';
  return JSON.stringify([...own, isTurned]);
}

/** The text of a policy whose conditions are all said by its place. */
export const NO_OTHERS = '';
