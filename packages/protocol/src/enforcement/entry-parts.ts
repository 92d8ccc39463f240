import { isObject } from '../arguments/rules.ts';
import { isCount } from '../counts.ts';
import type { Windows } from '../manifest/manifest.ts';
import { capWindows, isConnectorName } from '../tools-entry.ts';

/** The reason why `authorization_details` cannot be read. */
export type DetailsFault =
  | 'not_array'
  | 'not_object'
  | 'type_missing'
  | 'unknown_key'
  | 'connector'
  | 'wrong_type'
  | 'duplicate_connector'
  | 'caps_empty'
  | 'caps_key'
  | 'caps_window'
  | 'caps_count'
  | 'lineage'
  | 'arguments'
  | 'too_many';

/** Caps by exact tool name, or `cost_units`. */
export type CapsByTool = ReadonlyMap<string, Windows>;

/** Ends the reading of one element. */
export class Unreadable extends Error {
  readonly fault: DetailsFault;

  constructor(fault: DetailsFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Reads caps by tool. @throws Unreadable */
export function readCaps(value: unknown): CapsByTool {
  const caps = Object.entries(must(isObject(value) && value, 'wrong_type'));
  must(caps.length > 0, 'caps_empty');
  return new Map(
    caps.map(([tool, windows]) => {
      must(isConnectorName(tool), 'caps_key');
      return [tool, readWindows(windows)];
    }),
  );
}

function readWindows(value: unknown): Windows {
  const windows = Object.entries(must(isObject(value) && value, 'wrong_type'));
  must(windows.length > 0, 'caps_empty');
  const counts = windows.map(([name, count]) => {
    const window = must(
      capWindows.find((known) => known === name),
      'caps_window',
    );
    if (!isCount(count)) throw new Unreadable('caps_count');
    return [window, count];
  });
  return Object.fromEntries(counts);
}

/** Reads the name of a connector. @throws Unreadable */
export function readName(value: unknown, fault: DetailsFault): string {
  if (typeof value !== 'string' || !isConnectorName(value)) throw new Unreadable(fault);
  return value;
}

/** @throws Unreadable for a value that is false, undefined or empty */
export function must<Value>(value: Value | false | undefined | '', fault: DetailsFault): Value {
  if (value === false || value === undefined || value === '') throw new Unreadable(fault);
  return value;
}
