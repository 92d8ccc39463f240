import { parentPort } from 'node:worker_threads';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { LRUCache } from 'lru-cache';
import { CEDAR_SCHEMA, MAX_CEDAR_BYTES, placeIn } from './cedar.rules.ts';
import type { CedarAnswer, CedarWork } from './cedar.ts';

// A thread of its own, which can be ended: Cedar reads texts of developers, and a text that nests deeply leaves it broken.

const SCHEMA = 'behest';
const MAX_FAULTS = 10;
const MAX_MESSAGE = 300; // characters

/** The texts of the bundles that Cedar holds read, by their digests: some 100 MB when it is full. */
const held = new LRUCache<string, string>({
  maxSize: 8 * MAX_CEDAR_BYTES,
  sizeCalculation: (text) => text.length + 1,
  dispose: (_, id) => void cedar.preparsePolicySet(id, { staticPolicies: '' }),
});

parentPort?.on('message', (work: CedarWork) => {
  // An error that Cedar throws ends the thread, since the library is broken after it.
  parentPort?.postMessage(work.kind === 'check' ? { faults: faultsIn(work.text) } : decide(work));
});

function decide({ id, text, call }: Extract<CedarWork, { kind: 'decide' }>): CedarAnswer {
  if (text === undefined && !held.has(id)) return { isMissing: true };
  if (text !== undefined) {
    const read = cedar.preparsePolicySet(id, { staticPolicies: text });
    if (read.type === 'failure')
      return { effect: 'deny', reason: `bundle_invalid: ${describe(text, read.errors[0])}` };
    held.set(id, text);
  }
  const answer = cedar.statefulIsAuthorized({
    ...call,
    preparsedPolicySetId: id,
    preparsedSchemaName: SCHEMA,
    validateRequest: true,
    entities: [],
  });
  if (answer.type === 'failure') return { effect: 'deny', reason: describe('', answer.errors[0]) };
  const { decision, diagnostics } = answer.response;
  const [error] = diagnostics.errors;
  // Cedar leaves out a policy that fails, so a prohibition would be avoided by making it fail.
  if (error)
    return { effect: 'deny', reason: `${nameOf(id, error.policyId)} failed: ${error.error.message}` };
  const reason = diagnostics.reason.map((policyId) => nameOf(id, policyId)).join(', ');
  return { effect: decision, reason: reason || 'no policy of the bundle permits this' };
}

/** The annotation `@id` of a policy, or else its number in the text. */
function nameOf(bundleId: string, policyId: string): string {
  const text = held.get(bundleId) ?? '';
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === 'failure') return policyId;
  // Cedar counts from `policy0`, and lists the texts in the order of these names as words.
  const ids = parts.policies.map((_, number) => `policy${number}`).sort();
  const own = parts.policies[ids.indexOf(policyId)];
  const read = own === undefined ? undefined : cedar.policyToJson(own);
  const name = read?.type === 'success' ? read.json.annotations?.id : undefined;
  return name || policyId;
}

/** In words for the author of a bundle. */
function faultsIn(text: string): string[] {
  const answer = cedar.validate({ schema: CEDAR_SCHEMA, policies: { staticPolicies: text } });
  if (answer.type === 'failure')
    return answer.errors.map((error) => describe(text, error)).slice(0, MAX_FAULTS);
  const found = answer.validationErrors.map(({ error }) => describe(text, error));
  return [...new Set(found)].slice(0, MAX_FAULTS);
}

function describe(text: string, error: cedar.DetailedError | undefined): string {
  if (!error) return 'Cedar gave no reason';
  const [at] = error.sourceLocations ?? [];
  const place = at && text ? `${placeIn(text, at.start)}: ` : '';
  // A fault of a condition is reported once for each action.
  const message = error.message
    .replace(/^for policy `policy\d+`, /, '')
    .replace(/ for Behest::Action::"\w+"/, '');
  const hint = error.help ?? at?.label;
  return `${place}${message}${hint ? ` (${hint})` : ''}`.slice(0, MAX_MESSAGE);
}

const schema = cedar.preparseSchema(SCHEMA, CEDAR_SCHEMA);
if (schema.type === 'failure') throw new Error(schema.errors[0]?.message);
