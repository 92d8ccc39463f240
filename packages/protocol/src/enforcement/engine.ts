import type { Manifest } from '../manifest/manifest.ts';
import type { Call, CapsMode } from './call.ts';
import type { CapsMeter } from './meter.ts';
import type { DecisionStore, MaybePromise, RevocationCheck, StandingRules, TokenSource } from './ports.ts';
import type { ReasonCode, SubReasons } from './reasons.ts';
import type { Result } from './result.ts';

/** Finds the manifest of a connector. A `Map` by connector fits. */
export interface ManifestSource {
  get(connector: string): Manifest | undefined;
}

/** The parts that an enforcer asks, and its settings. */
export interface EnforcerSetup {
  readonly tokens: TokenSource;
  readonly manifests: ManifestSource;
  /** Without it no revocation is noticed before a token expires. */
  readonly revocation?: RevocationCheck;
  /** Without it every metered call is denied. */
  readonly meter?: CapsMeter;
  /** The time limit of one answer of the meter, 500 ms when left out. */
  readonly meterTimeoutMs?: number;
  /** Without it every call that needs a decision is denied. */
  readonly decisions?: DecisionStore;
  /** The issuer's policies. Without them only the token and the manifest decide. */
  readonly policies?: StandingRules;
  /** The region in which this process keeps data. Without it regions are not checked, which a warning says. */
  readonly dataRegion?: string;
  /** Default: `enforce`. */
  readonly capsMode?: CapsMode;
  /** Called with each unexpected error, for the logger: its call is denied, and the answer does not show it. */
  readonly onError?: (error: unknown) => void;
}

/** A tool as a server offers it: an MCP definition, or its name and pin. */
export interface OfferedTool {
  readonly name: string;
}

/** The tools of one connector, and the token that asks for them. */
export interface ToolOffer<Tool extends OfferedTool> {
  readonly grantToken: string;
  /** As in `Call`. */
  readonly provedKey?: string;
  readonly connector: string;
  readonly tools: readonly Tool[];
  /** True when calls of these tools have a `resource`, so that a scope with a resource may cover any of them. */
  readonly resource?: boolean;
  /**
   * The pin of a definition. Default: `pinOfTool`.
   */
  readonly pinOf?: (tool: Tool) => MaybePromise<string | undefined>;
}

/** A tool that is not listed, for the logger. The caller of the list must not see it. */
export interface HiddenTool {
  readonly tool: string;
  readonly reason_code: ReasonCode;
  readonly sub_reason: SubReasons[ReasonCode];
}

/** The answer to `listTools`. */
export interface ListedTools<Tool extends OfferedTool> {
  /** The offered tools in their order, unchanged. */
  readonly tools: readonly Tool[];
  readonly hidden: readonly HiddenTool[];
}

/** Answers for each call whether it may happen now. */
export interface Enforcer {
  /**
   * @returns an answer for every call; a denial is an answer
   * @throws TypeError when a member that comes from the gateway has a wrong type
   */
  enforce(call: Call): Promise<Result>;
  /**
   * Selects the offered tools that some call with the token could use. A listed tool promises nothing.
   *
   * @throws TypeError as `enforce`
   */
  listTools<Tool extends OfferedTool>(offer: ToolOffer<Tool>): Promise<ListedTools<Tool>>;
}
