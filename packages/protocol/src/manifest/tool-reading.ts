import { readPointer } from '../arguments/pointers.ts';
import { readRules } from '../arguments/rule-reading.ts';
import { isObject } from '../arguments/rules.ts';
import { isLabel } from '../arguments/text.ts';
import { decodeBase64url } from '../base64url.ts';
import { isCount } from '../counts.ts';
import { isPurposePattern } from '../purpose-patterns.ts';
import { toolLevels } from '../tool-scopes.ts';
import { capWindows } from '../tools-entry.ts';
import type { ManifestTool, ToolWords } from './manifest.ts';
import type { ManifestFaultCode } from './manifest-error.ts';

/** Ends the reading of a manifest with its first fault. */
export type Fail = (code: ManifestFaultCode, path: string) => never;

/** Checks one value of a tool. */
type Check = (value: unknown, path: string, fail: Fail) => undefined;

const WORD = /^[a-z][a-z0-9_]{0,63}$/;
const PIN = /^sha256:[A-Za-z0-9_-]{43}$/;
const MAX_PINS = 5;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/;
const MAX_LANGUAGES = 20;
const MAX_TITLE = 80; // code points, as of a description
const MAX_DESCRIPTION = 300;
const MAX_POINTERS = 64;

/** Tells whether a text is the name of a cost unit or of a decision. */
export function isWord(text: string): boolean {
  return WORD.test(text);
}

/** Tells whether a text is a language in which words may be: with its script and region if they matter, as `pt-BR`. */
export function isLanguage(text: string): boolean {
  return LANGUAGE.test(text);
}

/** Tells whether a text is the pin of a tool: `sha256:` and 32 bytes of base64url. */
export function isToolPin(text: string): boolean {
  return PIN.test(text) && decodeBase64url(text.slice('sha256:'.length)) !== undefined;
}

const checkPermission: Check = (value, path, fail): undefined => {
  if (value === undefined) fail('missing_key', path);
  if (typeof value !== 'string') return fail('wrong_type', path);
  if (!isPermission(value)) fail('invalid_permission', path);
};

const checkFlag: Check = (value, path, fail): undefined => {
  if (typeof value !== 'boolean') fail('wrong_type', path);
};

const checkRules: Check = (value, path, fail): undefined => {
  const read = readRules(value, path);
  if (!read.ok) fail(read.fault.code, read.fault.path);
};

/** Checks a list of texts: its form, then each item, then whether the item is repeated. */
function checkList(code: ManifestFaultCode, isItem: (text: string) => boolean, most = Infinity): Check {
  return (value, path, fail): undefined => {
    if (!Array.isArray(value)) return fail('wrong_type', path);
    if (value.length === 0) fail('empty', path);
    if (value.length > most) fail('too_many', path);
    for (const [index, item] of value.entries()) {
      const at = `${path}[${index}]`;
      if (typeof item !== 'string') return fail('wrong_type', at);
      if (!isItem(item)) fail(code, at);
      if (value.indexOf(item) < index) fail('duplicate_item', at);
    }
  };
}

/** Checks an object of counts. */
function checkCounts(code: ManifestFaultCode, isName: (name: string) => boolean): Check {
  return (value, path, fail): undefined => {
    if (!isObject(value)) return fail('wrong_type', path);
    if (Object.keys(value).length === 0) fail('empty', path);
    for (const [name, count] of Object.entries(value)) {
      if (!isName(name)) fail(code, `${path}.${name}`);
      if (!isCount(count)) fail('invalid_count', `${path}.${name}`);
    }
  };
}

const checkLabel =
  (most: number): Check =>
  (value, path, fail): undefined => {
    if (typeof value !== 'string') return fail('wrong_type', path);
    if (!isLabel(value, most)) fail('invalid_text', path);
  };

/** Checks an object by its members, of which it has 1 to so many. */
function checkMembers(most: number, checkMember: (name: string) => Check): Check {
  return (value, path, fail): undefined => {
    if (!isObject(value)) return fail('wrong_type', path);
    const members = Object.entries(value);
    if (members.length === 0) fail('empty', path);
    if (members.length > most) fail('too_many', path);
    for (const [name, member] of members) checkMember(name)(member, `${path}.${name}`, fail);
  };
}

/** A pointer to an argument, and not to all of them. */
function isArgument(pointer: string): boolean {
  return pointer !== '' && readPointer(pointer).ok;
}

const faultAt =
  (code: ManifestFaultCode): Check =>
  (_, path, fail): undefined =>
    fail(code, path);

/** In each language the words have the same members. */
const words = {
  title: checkLabel(MAX_TITLE),
  description: checkLabel(MAX_DESCRIPTION),
  argument_titles: checkMembers(MAX_POINTERS, (pointer) =>
    isArgument(pointer) ? checkLabel(MAX_TITLE) : faultAt('invalid_pointer'),
  ),
} satisfies Record<keyof ToolWords, Check>;

const checkWords = checkMembers(Object.keys(words).length, (key) => {
  const known = Object.entries(words).find(([name]) => name === key);
  return known ? known[1] : faultAt('unknown_key');
});

/** The keys of a tool, in the order in which faults are looked for. */
const checks = {
  permission: checkPermission,
  allowed_purposes: checkList('invalid_purpose_pattern', isPurposePattern),
  caps: checkCounts('unknown_key', (name) => capWindows.some((window) => window === name)),
  cost_units: checkCounts('invalid_unit', isWord),
  requires_decision: checkFlag,
  four_eyes_on: checkList('invalid_decision_name', isWord),
  arguments: checkRules,
  mcp_pins: checkList('invalid_pin', isToolPin, MAX_PINS),
  ...words,
  titles: checkMembers(MAX_LANGUAGES, (tag) => (isLanguage(tag) ? checkWords : faultAt('invalid_language'))),
  binds: checkList('invalid_pointer', isArgument, MAX_POINTERS),
} satisfies Record<keyof ManifestTool, Check>;

/** The keys of a tool in a manifest. */
export const toolKeys = Object.keys(checks);

/**
 * Reads one tool of a manifest: a permission, or an object.
 *
 * @param value any value, not trusted
 * @returns the tool in object form; it shares nothing with the value
 */
export function readTool(value: unknown, path: string, fail: Fail): ManifestTool {
  if (typeof value === 'string') {
    return isPermission(value) ? { permission: value } : fail('invalid_permission', path);
  }
  if (!isObject(value)) return fail('wrong_type', path);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(checks, key));
  if (unknown !== undefined) fail('unknown_key', `${path}.${unknown}`);
  for (const [key, check] of Object.entries(checks)) {
    if (key === 'permission' || Object.hasOwn(value, key))
      check(ownValue(value, key), `${path}.${key}`, fail);
  }
  // Every member has been compared with the type by now.
  const tool = structuredClone(value) as unknown as ManifestTool;
  if (tool.permission === 'read' && tool.requires_decision)
    fail('decision_on_read', `${path}.requires_decision`);
  if (tool.four_eyes_on && !tool.requires_decision)
    fail('four_eyes_without_decision', `${path}.four_eyes_on`);
  if (tool.binds && !tool.requires_decision) fail('binds_without_decision', `${path}.binds`);
  return tool;
}

function ownValue(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function isPermission(text: string): text is ManifestTool['permission'] {
  return toolLevels.some((level) => level === text);
}
