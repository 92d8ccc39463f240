import type { Call } from './call.ts';

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
