import { type Action, argumentParts } from '@behest/protocol/enforcement/action';
import { wantedLanguages } from '@behest/protocol/words';
import type { Executor } from '../../../platform/db/db.ts';
import { approvalWords } from '../../grants/manifests/index.ts';
import { findCurrentTools, findPinnedTools } from '../../grants/manifests/manifests.queries.ts';
import type { DecisionRow } from './decisions.repo.ts';
import type { Decision, DecisionForApprover } from './decisions.schema.ts';
import type { Money } from './messages.ts';
// @ts-expect-error A script of the page has its types in comments, which the check of the pages reads.
import * as page from './page/approve-rows.js';

/** The arguments as they were given, whole, also where the action has a part of them. */
export const argumentsOf = ({ action, given }: DecisionRow): Decision['arguments'] =>
  given === null ? JSON.parse(action).arguments : JSON.parse(given);

/** What the page says first of a call: the title of its tool, and its money where it has some. */
export async function headlineParts(
  db: Executor,
  row: DecisionRow,
): Promise<{ readonly title: string | null; readonly money: Money | undefined }> {
  const { words, parts } = await inWords(db, row, undefined);
  return { title: words.title, money: page.headlineOf(argumentsOf(row), parts) };
}

/** The words and the binding of the manifest that the action names, or of the one that there is now. */
export async function inWords(
  db: Executor,
  row: DecisionRow,
  languages: string | undefined,
): Promise<Pick<DecisionForApprover, 'words' | 'parts'>> {
  const { connector, tool } = row;
  const { manifest: sha256 }: Action = JSON.parse(row.action);
  const tools =
    sha256 === undefined
      ? await findCurrentTools(db, row, [connector])
      : await findPinnedTools(db, row, [{ connector, sha256, version: '' }]);
  const declared = tools.get(connector)?.get(tool);
  return {
    words: approvalWords(declared, wantedLanguages(languages)),
    parts: argumentParts({ ...argumentsOf(row) }, sha256 === undefined ? undefined : (declared?.binds ?? [])),
  };
}
