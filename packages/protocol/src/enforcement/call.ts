const CALL_ID = /^[A-Za-z0-9_.:-]{8,128}$/;
const MAX_CASE_VERSION = 128;

/**
 * Checks what the gateway says of a call. Faults of `amount`, `caseId` and `costComponents` are denials, not errors,
 * and so is everything that the caller brings.
 *
 * @throws TypeError
 */
export function mustBeCall(call: Call): void {
  mustBeText(call.connector, 'connector');
  mustBeText(call.tool, 'tool');
  if (call.resource !== undefined) mustBeText(call.resource, 'resource');
  if (call.toolPin !== undefined) mustBeText(call.toolPin, 'toolPin');
  if (call.provedKey !== undefined) mustBeText(call.provedKey, 'provedKey');
  const { callId, caseVersion, capsMode, reserve } = call;
  if (callId !== undefined && !(typeof callId === 'string' && CALL_ID.test(callId))) {
    throw new TypeError('callId has 8 to 128 characters: letters, digits and _.:-');
  }
  if (caseVersion !== undefined && !isCaseVersion(caseVersion)) {
    throw new TypeError('caseVersion is a text of 1 to 128 characters.');
  }
  if (capsMode !== undefined && capsMode !== 'enforce' && capsMode !== 'warn') {
    throw new TypeError('capsMode is enforce or warn.');
  }
  if (reserve !== undefined && typeof reserve !== 'boolean') throw new TypeError('reserve is true or false.');
}

function isCaseVersion(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && [...value].length <= MAX_CASE_VERSION;
}

function mustBeText(value: unknown, name: string): void {
  if (typeof value !== 'string') throw new TypeError(`${name} is a text.`);
}

/** The effect of a cap that is reached: the call is denied, or `would_deny` reports the denial. */
export type CapsMode = 'enforce' | 'warn';

/**
 * A call that asks for permission. The agent brings `grantToken`, `arguments` and `decisionGrants`; the gateway before
 * the tool knows the rest, and takes none of it from the model.
 */
export interface Call {
  readonly grantToken: string;
  readonly connector: string;
  readonly tool: string;
  /** Read where rules apply, and bound by decision grants. A gateway whose call has none passes `{}`. */
  readonly arguments?: unknown;
  /** The thing acted on, for scopes with a resource. */
  readonly resource?: string;
  /** The amount, for scopes with a cap; null is the same as none. A wrong type is denied, not thrown. */
  readonly amount?: unknown;
  /** 1 to 256 code points. A wrong form is denied where a cap needs the case. */
  readonly caseId?: unknown;
  /** 1 to 128 code points. */
  readonly caseVersion?: string;
  /** The cost units that the call takes; default: all that the tool declares. A wrong form is denied. */
  readonly costComponents?: unknown;
  /** The same for each attempt of one logical call; default: random. */
  readonly callId?: string;
  /** One or two. */
  readonly decisionGrants?: readonly string[];
  /** Default: the engine's own mode. */
  readonly capsMode?: CapsMode;
  /** False to check only: nothing is held and nothing is charged. Default: true. */
  readonly reserve?: boolean;
  /** The pin of the tool's definition that was last given to the caller. @see pinOfTool */
  readonly toolPin?: string;
  /** The thumbprint of the key whose proof came with the token and was checked. Without it bound tokens are refused. */
  readonly provedKey?: string;
}
