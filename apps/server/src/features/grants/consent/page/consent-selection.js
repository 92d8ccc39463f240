/** @import { Part } from '../../../../platform/page/types.js' */
/** @import { Cap, ConsentRequest, Lines, Narrowing, RequestUse, ToolsEntry } from './types.js' */
import {
  aside,
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { duration, fill, fillText, moment, secondsOf } from '../../../../platform/page/format.js';
import { capText } from './consent-format.js';
import { renderLimits } from './consent-limits.js';
import { covers, groupScopes, lostCap, toolScope } from './consent-scopes.js';
import { words } from './consent-words.js';

/** The page groups and counts the lines of a longer list. */
const SHORT_LIST = 8;
const SHORTER_TIMES = ['180d', '90d', '30d', '7d', '24h', '8h', '1h', '15m', '5m'];

/**
 * The parts of the page from which a person can take something away.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 */
export function renderSelection(request, { choices, now }) {
  const { scopes, grantExpiresIn } = request;
  const { manifests = [] } = request;
  const entries = request.authorizationDetails ?? [];
  /** @type {Array<() => void>} each is called when the selection changes */
  const followers = [];
  const summary = element('p', { id: 'summary' });
  const end = aside();

  function refresh() {
    for (const follow of followers) follow();
  }

  const keptScopes = () => scopes.filter((scope) => !choices.removedScopes.has(scope));
  /** @param {ToolsEntry} entry */
  const isUsed = ({ connector }) =>
    keptScopes().some((scope) => [connector, '*'].includes(toolScope(scope)?.connector ?? ''));
  /** @param {ToolsEntry} entry */
  const keptTools = ({ connector, tools = [] }) =>
    tools.filter((tool) => !choices.removedTools.get(connector)?.has(tool));
  /** @type {(connector: string, tool: string) => boolean} */
  const isKept = (connector, tool) =>
    usedEntries().some(
      (entry) =>
        entry.connector === connector &&
        keptTools(entry).some((item) =>
          item.endsWith('*') ? tool.startsWith(item.slice(0, -1)) : item === tool,
        ),
    );
  /** Entries that list tools, of connectors still in use. */
  const usedEntries = () => entries.filter((entry) => entry.tools && isUsed(entry));

  /** @type {(removed: Set<string>, keys: string[], isKept: boolean) => void} */
  function select(removed, keys, isKept) {
    for (const key of keys) isKept ? removed.delete(key) : removed.add(key);
    refresh();
  }

  /**
   * A heading with the count of its selected lines, and a button for all of them.
   * @param {Lines} lines
   */
  function renderTotal({ title, keys, removed }) {
    const heading = element('h3', {}, title);
    const count = element('span', { class: 'aside' });
    const keptCount = () => keys.filter((key) => !removed.has(key)).length;
    const toggle = button('', () => select(removed, keys, keptCount() < keys.length));
    followers.push(() => {
      const action = keptCount() < keys.length ? words.scopes.selectAll : words.scopes.selectNone;
      setContent(count, fillText(words.scopes.selected, { kept: keptCount(), all: keys.length }));
      setContent(toggle, action);
      toggle.setAttribute('aria-label', `${action}: ${heading.textContent}`);
    });
    return element('div', { class: 'total' }, heading, count, toggle);
  }

  /** @param {Lines} lines */
  function renderList(lines) {
    const { keys, removed, title, label } = lines;
    const items = keys.map((key) => {
      const control = element('input', { type: 'checkbox' });
      control.addEventListener('change', () => select(removed, [key], control.checked));
      followers.push(() => {
        control.checked = !removed.has(key);
      });
      const [text, ...notes] = label(key);
      return element('li', {}, element('label', {}, control, element('span', {}, text)), notes);
    });
    const list = element('ul', { role: 'list' }, items);
    return title ? element('div', { class: 'group' }, renderTotal(lines), list) : list;
  }

  function renderScopes() {
    const { total, tools, others, note, star } = words.scopes;
    const whole = { keys: scopes, removed: choices.removedScopes, label: scopeLabel };
    const groups = scopes.length > SHORT_LIST ? groupScopes(scopes) : [];
    const lists = groups.map(({ kind, name: title, members }) => {
      const sentence = { tool: tools, resource: '{connector}', other: others }[kind];
      return renderList({ ...whole, title: fill(sentence, { connector: literal(title) }), keys: members });
    });
    return [
      aside(note, scopes.some((scope) => scope.includes('*')) && ` ${star}`),
      lists.length > 1 && renderTotal({ ...whole, title: total }),
      lists.length > 0 ? lists : renderList(whole),
    ];
  }

  /** @param {string} scope */
  function scopeLabel(scope) {
    const description = request.scopeDescriptions[scopes.indexOf(scope)] ?? scope;
    const consequence = element('p', { role: 'status' });
    followers.push(() => {
      const news = element('p', {}, consequenceOf(scope));
      // Replaced only when the text differs, because a screen reader reads out each replacement.
      if (news.textContent !== consequence.textContent) consequence.replaceChildren(...news.childNodes);
    });
    return [[description !== scope && name(description, 'words'), literal(scope)], consequence];
  }

  /**
   * Says that another scope still covers the removed scope, or that a limit goes with it.
   * @param {string} scope
   */
  function consequenceOf(scope) {
    if (!choices.removedScopes.has(scope)) return undefined;
    const cover = keptScopes().find((other) => covers(other, scope));
    if (cover !== undefined) return fill(words.scopes.stillCovered, { scope: literal(cover) });
    const lost = lostCap(scope, keptScopes());
    return lost && fill(words.scopes.capLost, { amount: lost.amount, connector: literal(lost.connector) });
  }

  /** @param {ToolsEntry} entry */
  function renderTools(entry) {
    const { connector, tools, caps = {}, data_region: region } = entry;
    const removed = choices.removedTools.get(connector) ?? new Set();
    choices.removedTools.set(connector, removed);
    const title = fill(words.scopes.tools, { connector: literal(connector) });
    const state = aside();
    followers.push(() => setContent(state, !isUsed(entry) && fill(words.tools.unused, { connector })));
    const others = Object.keys(caps).filter((tool) => tool !== 'cost_units' && !tools?.includes(tool));
    return element('div', { class: 'group' }, [
      tools
        ? renderList({
            title,
            keys: tools,
            removed,
            label: (tool) => [[literal(tool), toolNote(tool, caps[tool])]],
          })
        : [element('h3', {}, title), paragraph(words.tools.any)],
      state,
      others.map((tool) =>
        paragraph(fill(words.tools.other, { tool: literal(tool), limits: capText(caps[tool] ?? {}) })),
      ),
      caps.cost_units && paragraph(fillText(words.tools.costUnits, { limits: capText(caps.cost_units) })),
      region && paragraph(fill(words.tools.region, { region: literal(region) })),
    ]);
  }

  function renderTime() {
    const asked = secondsOf(grantExpiresIn);
    const { label, asAsked } = words.time;
    const shorter = SHORTER_TIMES.filter((time) => secondsOf(time) < asked);
    const options = shorter.map((time) => element('option', { value: time }, duration(secondsOf(time))));
    const first = fillText(asAsked, { duration: duration(asked) });
    const menu = element(
      'select',
      { id: 'time' },
      element('option', { value: grantExpiresIn }, first),
      options,
    );
    menu.value = choices.expiresIn;
    menu.addEventListener('change', () => {
      choices.expiresIn = menu.value;
      refresh();
    });
    followers.push(() => {
      const isListed = [...menu.options].some(({ value }) => value === choices.expiresIn);
      const kept = element('option', { value: choices.expiresIn }, duration(secondsOf(choices.expiresIn)));
      if (!isListed) menu.append(kept);
      menu.value = choices.expiresIn;
      refreshEnd();
    });
    const fixed = asked > 0 ? element('strong', {}, duration(asked)) : literal(grantExpiresIn);
    return [
      paragraph(
        options.length > 0 ? [element('label', { for: menu.id }, label), ' ', menu] : [label, ' ', fixed],
      ),
      end,
    ];
  }

  /** Runs also as time passes. */
  function refreshEnd() {
    const time = new Date(now().getTime() + secondsOf(choices.expiresIn) * 1000);
    const isDate = !Number.isNaN(time.getTime());
    const { until, sooner } = words.time;
    setContent(
      end,
      isDate && [fill(until, { time: moment(time, now()) }), ' '],
      fill(sooner, { developer: mention(request.developerName) }),
    );
  }

  /** The selection in few words, for the middle of a sentence. */
  function inWords() {
    const { allScopes, someScopes, someTools, tighter, duration: forTime } = words.decision;
    const kept = keptScopes().length;
    const used = usedEntries();
    const tools = used.flatMap(keptTools).length;
    const allTools = used.flatMap((entry) => entry.tools ?? []).length;
    const isTighter = limits.isTighter();
    const isWhole = kept === scopes.length && tools === allTools;
    const seconds = secondsOf(choices.expiresIn);
    return [
      isWhole ? allScopes : fillText(someScopes, { kept, all: scopes.length }),
      !isWhole && allTools > 0 && fillText(someTools, { kept: tools, all: allTools }),
      isTighter && tighter,
      seconds > 0 && fillText(forTime, { duration: duration(seconds) }),
    ]
      .filter(Boolean)
      .join(', ');
  }

  /**
   * The reason that the selection cannot be approved.
   * @returns {Part[] | undefined}
   */
  function missing() {
    const kept = keptScopes();
    const { scope, toolScope: anyTool, tool } = words.decision.missing;
    if (kept.length === 0) return [scope];
    if (request.purpose && !kept.some(namesConnector)) return [anyTool];
    const empty = usedEntries().find((entry) => keptTools(entry).length === 0);
    return empty ? fill(tool, { connector: literal(empty.connector) }) : limits.missing();
  }

  /** @returns {Narrowing} */
  function narrowing() {
    const kept = keptScopes();
    const narrowed = usedEntries().filter((entry) => keptTools(entry).length < (entry.tools?.length ?? 0));
    return {
      ...(kept.length < scopes.length && { scopes: kept }),
      ...(choices.expiresIn !== grantExpiresIn && { expiresIn: choices.expiresIn }),
      ...(manifests.length > 0 && {
        manifests: manifests.map(({ connector, sha256 }) => ({ connector, sha256 })),
      }),
      ...(narrowed.length > 0 && {
        tools: Object.fromEntries(narrowed.map((entry) => [entry.connector, keptTools(entry)])),
      }),
      ...(limits.isTighter() && { arguments: limits.narrowing() }),
    };
  }

  const limits = renderLimits(request, { choices, refresh, isKept });
  followers.push(limits.follow);
  const tools = [...entries.map(renderTools), ...limits.parts];
  const parts = { scopes: renderScopes(), tools, time: renderTime() };
  followers.push(() =>
    setContent(
      summary,
      missing() ??
        fill(words.decision.summary, {
          agent: mention(request.agentName),
          principal: mention(request.principalId),
          selection: inWords(),
        }),
    ),
  );
  refresh();
  return { ...parts, summary, refresh, refreshEnd, inWords, missing, narrowing };
}

/** @param {string} scope */
function namesConnector(scope) {
  return !['*', undefined].includes(toolScope(scope)?.connector);
}

/**
 * @param {string} tool
 * @param {Cap} [cap]
 */
function toolNote(tool, cap) {
  const notes = [tool.endsWith('*') && words.tools.prefix, cap && capText(cap)].filter(Boolean);
  return notes.length > 0 && element('span', {}, notes.join(', '));
}
