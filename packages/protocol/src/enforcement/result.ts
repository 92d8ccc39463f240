import type { ToolLevel } from '../tool-scopes.ts';
import type { CapWindow } from '../tools-entry.ts';
import type { Approver } from './ports.ts';
import type { Denial, Details, ReasonCode, SubReasons } from './reasons.ts';

/** A circumstance that does not deny. */
export interface Warning {
  readonly code:
    | 'scope_unreadable'
    | 'region_unchecked'
    | 'legacy_claim'
    | 'manifest_unknown_key'
    | 'manifest_changed';
  /** The scope, claim or key that the warning is about; empty where the code says all. */
  readonly detail: string;
}

/** A counter that the call was charged to, or with `reserve: false` would be. */
export interface ChargedCounter {
  readonly scope: 'manifest' | 'grant' | 'ancestor';
  readonly kind: 'calls' | 'cost_units';
  readonly window: CapWindow;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
}

/** The charge of a call. */
export interface Reservation {
  /** The call id under which the meter holds the charge; null with `reserve: false`. */
  readonly id: string | null;
  /** The cost units of the call. */
  readonly units: number;
  readonly counters: readonly ChargedCounter[];
}

/** The decision that allowed a call. */
export interface UsedDecision {
  readonly decision_id: string;
  readonly jtis: readonly string[];
  readonly approvers: readonly Approver[];
  /** `unheld` with `reserve: false`, which moves nothing. */
  readonly state: 'held' | 'sent' | 'spent' | 'unheld';
}

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
/** Each compound name in both spellings: `grant_id` and `grantId`. */
type BothSpellings<Members> = Members & {
  readonly [Name in keyof Members as Name extends string ? Camel<Name> : never]: Members[Name];
};

/** The call and its token. The token's members are empty when the token did not verify. */
interface Facts {
  readonly warnings: readonly Warning[];
  readonly grant_id: string;
  readonly agent_did: string;
  readonly principal_id: string;
  readonly developer_id: string;
  readonly scopes: readonly string[];
  readonly connector: string;
  readonly tool: string;
  /** The level that the tool demands; null before the manifest was asked. */
  readonly permission: ToolLevel | null;
  readonly purpose: string | null;
  readonly call_id: string;
  /** The version of the manifest that was used; null without one. */
  readonly manifest_version: string | null;
  readonly reservation: Reservation | null;
  readonly decision: UsedDecision | null;
  /** Absent when no cap would have denied the call; else what `caps_mode` `enforce` would have denied, in order. */
  readonly would_deny?: readonly [Denial, ...Denial[]];
}

/** The result for a call that may happen now. */
export type Allowed = BothSpellings<
  Facts & {
    readonly allowed: true;
    readonly reason: '';
    readonly reason_code: null;
    readonly sub_reason: null;
    readonly details: Details;
  }
>;
/** The result for a call that must not happen. */
export type Denied = {
  [Code in ReasonCode]: BothSpellings<
    Facts & {
      readonly allowed: false;
      readonly reason: string;
      readonly reason_code: Code;
      readonly sub_reason: SubReasons[Code];
      readonly details: Details;
    }
  >;
}[ReasonCode];
/** The answer to a call. It is the same in the SDK and in `POST /v1/enforce`. */
export type Result = Allowed | Denied;
