/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { ComparedRow, Row } from './approve-rows.js' */
/** @import { Shown } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  aside,
  element,
  literal,
  mention,
  name,
  paragraph,
  quotation,
} from '../../../../platform/page/dom.js';
import { fill, locale, moment } from '../../../../platform/page/format.js';
import { factList, note } from '../../../../platform/page/parts.js';
import {
  boundBy,
  compareRows,
  headlineOf,
  lacksCurrency,
  linesOf,
  readable,
  rowsOf,
} from './approve-rows.js';
import { words } from './approve-words.js';

/**
 * A call as a person reads it: the money first, then every argument in a row of its own, and what differs from the last
 * decision of the case. The text that is signed is one tap away.
 * @param {Shown} shown
 * @returns {Child[]}
 */
export function renderCall(shown) {
  const { principalId, connector, tool, quorum, firstApprover, expiresAt, parts } = shown;
  const now = rowsOf(shown.arguments);
  const earlier = earlierArguments(shown);
  const { rows, gone } = compareRows(earlier ? rowsOf(earlier) : now, now);
  const isSame = gone.length === 0 && rows.every(({ change }) => change === undefined);
  const isBound = boundBy(parts);
  const isWholeBound = now.every(isBound);
  const { title } = shown.words;
  const values = { tool: name(tool), connector: name(connector), first: mention(firstApprover ?? '') };
  const titles = new Map(shown.words.arguments.map((each) => [each.path, each.title]));
  return [
    paragraph(fill(isWholeBound ? words.forWhom : words.mostlyBound, { principal: mention(principalId) })),
    quorum === 2 && aside(fill(firstApprover ? words.second : words.two, values)),
    earlier && (isSame ? aside(words.same) : note(words.differs, words.differsText)),
    element('section', { class: 'card', 'aria-label': words.call }, [
      headline(shown),
      title
        ? paragraph(
            name(title),
            ' ',
            element('span', { class: 'aside' }, '(', fill(words.toolOf, values), ')'),
          )
        : paragraph(fill(words.toolOf, values)),
      now.length > 0
        ? element(
            'dl',
            { class: 'rows', id: 'call' },
            rows.map((row) =>
              renderRow(row, titles.get(row.pointer), {
                binds: isBound(row),
                isBare: lacksCurrency(row, now),
              }),
            ),
          )
        : paragraph(words.noArguments),
      gone.map((row) =>
        element(
          'p',
          { class: 'gone' },
          `${words.marks.gone} `,
          fill(words.gone, { argument: pathOf(row), before: valueIn(row.text) }),
        ),
      ),
      element(
        'p',
        { class: 'until' },
        fill(words.ends, { time: moment(new Date(expiresAt), serviceTime()) }),
      ),
    ]),
    renderDetails(shown),
  ];
}

/** @param {Shown} shown */
function headline(shown) {
  const money = headlineOf(shown.arguments, shown.parts, locale);
  if (!money) return undefined;
  const sum = element('strong', {}, `${money.amount} ${money.currency}`);
  const { receiver } = money;
  return element(
    'p',
    { class: 'headline' },
    receiver === undefined
      ? sum
      : fill(words.sumTo, { sum, receiver: element('strong', {}, mention(receiver)) }),
  );
}

/**
 * The arguments with which those of this call are compared.
 * @param {Shown} shown
 * @returns {Record<string, unknown> | null | undefined}
 */
const earlierArguments = ({ lastApproved, previous }) =>
  lastApproved?.arguments ?? (previous ? JSON.parse(previous).arguments : null);

/**
 * @param {ComparedRow} row
 * @param {string | undefined} title
 * @param {{ binds: boolean, isBare: boolean }} kind `isBare`: an amount of nobody knows what
 */
function renderRow({ path, text, change, before }, title, { binds, isBare }) {
  return element('div', { class: change }, [
    element('dt', {}, title && element('span', { class: 'title' }, name(title)), pathOf({ path })),
    element('dd', {}, [
      change && element('strong', {}, `${words.marks[change]} ${words[change]} `),
      valueIn(text),
      momentIn(text),
      isBare && aside(words.noCurrency),
      before !== undefined && aside(fill(words.before, { before: valueIn(before) })),
      !binds && aside(words.mayDiffer),
    ]),
  ]);
}

/**
 * The names that lead to a value. A long one breaks between its words first.
 * @param {Pick<Row, 'path'>} row
 */
function pathOf({ path }) {
  const node = name(path.join(' › '), 'path');
  for (const piece of [...node.childNodes]) {
    if (!(piece instanceof Text)) continue;
    const parts = piece.data.split(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=_)/u);
    piece.replaceWith(...parts.flatMap((part, at) => (at > 0 ? [element('wbr', {}), part] : part)));
  }
  return node;
}

/** @param {string} text JSON */
const valueIn = (text) => name(readable(text), 'value');

/** A point in time also as a date of the reader. @param {string} text JSON @returns {Child} */
function momentIn(text) {
  if (!/^"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)"$/.test(text)) return undefined;
  const time = new Date(JSON.parse(text));
  return Number.isNaN(time.getTime()) ? undefined : aside(moment(time, serviceTime()));
}

/**
 * Everything else of the call, and the text whose hash is signed.
 * @param {Shown} shown
 */
function renderDetails(shown) {
  const { agentName, developerName, permission, purpose, caseId, summary, canonical } = shown;
  const { description } = shown.words;
  const hash = shown.actionHash.replace('sha256:', '').match(/.{1,4}/g) ?? [];
  const line = (/** @type {string} */ text) => element('div', {}, name(text, 'line'));
  const rows = [
    [words.agent, name(agentName)],
    summary && [words.summary, quotation(summary)],
    [words.account, name(developerName)],
    description && [words.description, quotation(description)],
    [words.permission, literal(permission)],
    purpose && [words.purpose, literal(purpose)],
    caseId && [
      words.case,
      fill(words.caseOf, { case: mention(caseId), version: mention(shown.caseVersion ?? '–') }),
    ],
    [words.text, element('div', { class: 'call', id: 'text' }, linesOf(canonical).map(line))],
    [words.hash, element('code', { id: 'hash' }, hash.join(' '))],
  ];
  return element(
    'details',
    { class: 'card', id: 'details' },
    element('summary', {}, words.details),
    factList(rows),
  );
}
