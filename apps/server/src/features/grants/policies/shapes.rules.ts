import type { Policy, ReadAsked } from './match.rules.ts';
import type { Network } from './networks.rules.ts';

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

/** A key under which a policy stands, among the policies of a shape. */
export interface Place {
  readonly shape: Shape;
  readonly key: string;
}

/** The places of a policy and its conditions that no place tells, as a text. */
export interface Placing {
  readonly places: readonly Place[];
  readonly conditions: string;
}

/** More places than this for one policy are not made: then fewer conditions are looked up. */
const MOST_PLACES = 128;
const DEEPEST = 255;
const DEPTH_BITS = 8;

type Part<Of> = readonly (readonly [of: Of, key: string])[];

export function placingOf(policy: Policy, networks: readonly Network[] | null): Placing {
  const purposes: Part<boolean> =
    policy.purposes === null ? [[false, '']] : [...new Set(policy.purposes)].map((each) => [true, each]);
  let [depths, tools, nets] = [depthsOf(policy), toolsOf(policy), networksOf(policy, networks)];
  const count = () => (depths?.length ?? 1) * (tools?.length ?? 1) * (nets?.length ?? 1);
  if (count() > MOST_PLACES) depths = undefined;
  if (count() > MOST_PLACES && (tools?.length ?? 1) > (nets?.length ?? 1)) tools = undefined;
  if (count() > MOST_PLACES) nets = undefined;

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
export function keyAsked({ hasPurpose, network, tool, depth }: Shape, asked: ReadAsked): string | undefined {
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

function toolAsked(shape: NonNullable<Shape['tool']>, call: ReadAsked['call']): string | undefined {
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
function conditionsOf(policy: Policy, told: { nets: unknown; tools: unknown; depths: unknown }): string {
  const { dayStart, dayEnd, timeZone, daysOfWeek, argumentRules } = policy;
  const networks = told.nets ? null : policy.networks;
  const [depthMin, depthMax] = told.depths ? [null, null] : [policy.depthMin, policy.depthMax];
  const [connector, tools] = told.tools ? [null, null] : [policy.connector, policy.tools];
  const plain = [dayStart, dayEnd, timeZone, daysOfWeek, depthMin, depthMax, connector, tools];
  const own = [...plain, networks, argumentRules];
  if (own.every((condition) => condition === null)) return NO_OTHERS;
  // An unknown address and arguments that break the rules are the other way round for a permission.
  const isTurned = (networks ?? argumentRules) !== null && policy.effect === 'allow';
  return JSON.stringify([...own, isTurned]);
}

/** The text of a policy whose conditions are all told by its place. */
export const NO_OTHERS = '';
