/** @import { ToolInWords } from '@behest/protocol/shapes' */
/** @import { Child, Part } from '../../../../platform/page/types.js' */
/** @import { Cap, ConsentRequest, Lines, Narrowing, RequestUse, ToolsEntry } from './types.js' */
import {
  aside,
  button,
  element,
  literal,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { counted, duration, fill, fillText, moment, secondsOf } from '../../../../platform/page/format.js';
import {
  covers,
  groupScopes,
  isFarReaching,
  kindOf,
  lostCap,
  mostFarReachingFirst,
  toolScope,
} from '../../../../platform/page/scopes.js';
import { language } from '../../../../platform/page/words.js';
import { words } from './consent-words.js';

/** The page groups and counts the lines of a longer list. */
const SHORT_LIST = 8;
/** So many permissions and tools fit one screen with both buttons, or with their limits. */
const ONE_SCREEN = 4;
const ONE_SCREEN_WITH_LIMITS = 2;
const SHORTER_TIMES = ['180d', '90d', '30d', '7d', '24h', '8h', '1h', '15m', '5m'];

/**
 * The parts of the page from which a person can take something away.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 */
export function renderSelection(request, { choices, now, renderLimits }) {
  const { scopes, grantExpiresIn, manifests = [], scopeWordsSha256 } = request;
  const entries = request.authorizationDetails ?? [];
  /** @type {Array<() => void>} each is called when the selection changes */
  const followers = [];
  const summary = element('p', { id: 'summary' });
  const end = element('p', {});

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
    const heading = element('h2', {}, title);
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
    const { keys, removed, title, label, kind } = lines;
    const items = keys.map((key) => {
      const control = element('input', { type: 'checkbox' });
      control.addEventListener('change', () => select(removed, [key], control.checked));
      followers.push(() => {
        control.checked = !removed.has(key);
      });
      const [text, ...notes] = label(key);
      const row = { class: kind?.(key) };
      return element('li', row, element('label', {}, control, element('span', {}, text)), notes);
    });
    const list = element('ul', { role: 'list', class: 'rows' }, items);
    return title ? element('div', { class: 'group' }, renderTotal(lines), list) : list;
  }

  function renderScopes() {
    const { total, tools, others, farReaching } = words.scopes;
    const keys = mostFarReachingFirst(scopes);
    const whole = { keys, removed: choices.removedScopes, label: scopeLabel, kind: kindOf };
    if (scopes.length <= SHORT_LIST) return renderList(whole);
    const far = keys.filter(isFarReaching);
    const groups = groupScopes(keys.filter((scope) => !isFarReaching(scope)));
    return [
      renderTotal({ ...whole, title: total }),
      far.length > 0 && renderList({ ...whole, title: counted(farReaching, far.length), keys: far }),
      groups.map(({ kind, name: title, members }) => {
        const sentence = { tool: tools, resource: '{connector}', other: others }[kind];
        return renderList({ ...whole, title: fill(sentence, { connector: literal(title) }), keys: members });
      }),
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
    const isRaw = description === scope;
    // Two permissions in the same words are shown with their exact text.
    const isAmbiguous = isSharedBy(request, description);
    const covered = coveredBy(scope);
    return [
      [
        !isRaw && name(description, 'words'),
        (isRaw || isAmbiguous) && literal(scope),
        covered && element('span', { class: 'aside' }, name(covered, 'words')),
      ],
      consequence,
    ];
  }

  /** The tools that a permission reaches, where no entry lists them. @param {string} scope */
  function coveredBy(scope) {
    const { connector, resource = '*' } = toolScope(scope) ?? {};
    if (entries.some((entry) => entry.connector === connector && entry.tools)) return undefined;
    const said = request.tools?.find((each) => each.connector === connector && each.tool === resource);
    if (!said) return undefined;
    if (said.covers.length > 0) return fillText(words.tools.covers, { tools: coveredText(said) });
    return said.title ?? undefined;
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
            label: (tool) => [toolLabel(request, connector, tool, caps[tool])],
          })
        : element('h2', {}, title),
      state,
      others.map((tool) =>
        paragraph(fill(words.tools.other, { tool: literal(tool), limits: capText(caps[tool] ?? {}) })),
      ),
      caps.cost_units && paragraph(fillText(words.tools.costUnits, { limits: capText(caps.cost_units) })),
      region && paragraph(fill(words.tools.region, { region: literal(region) })),
    ]);
  }

  /** All tools and limits. They only take away from the permissions, so a long list waits behind one tap. */
  function renderAllTools() {
    const parts = [...entries.filter(hasTools).map(renderTools), ...limits.parts];
    if (parts.length === 0) return [];
    const count = entries.flatMap(({ tools = [] }) => tools).length;
    const isShort = limits.parts.length === 0 && scopes.length + count <= ONE_SCREEN;
    if (isShort) return parts;
    const title = count > 0 ? counted(words.tools.only, count) : words.tools.title;
    return [
      element(
        'details',
        { id: 'tools', open: scopes.length + count <= ONE_SCREEN_WITH_LIMITS },
        element('summary', {}, title),
        parts,
      ),
    ];
  }

  function renderTime() {
    const asked = secondsOf(grantExpiresIn);
    const { label } = words.time;
    const shorter = SHORTER_TIMES.filter((time) => secondsOf(time) < asked);
    const options = shorter.map((time) => element('option', { value: time }, duration(secondsOf(time))));
    const first = duration(asked);
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
    const fixed = asked > 0 ? duration(asked) : literal(grantExpiresIn);
    return element('div', { class: 'until' }, [
      end,
      options.length > 0
        ? [element('label', { for: menu.id, class: 'unseen' }, label), menu]
        : element('span', { class: 'aside' }, fixed),
    ]);
  }

  /** Runs also as time passes. */
  function refreshEnd() {
    const time = new Date(now().getTime() + secondsOf(choices.expiresIn) * 1000);
    const isDate = !Number.isNaN(time.getTime());
    setContent(end, isDate && fill(words.time.until, { time: element('strong', {}, moment(time, now())) }));
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
  function less() {
    const kept = keptScopes();
    const narrowed = usedEntries().filter((entry) => keptTools(entry).length < (entry.tools?.length ?? 0));
    return {
      ...(kept.length < scopes.length && { scopes: kept }),
      ...(choices.expiresIn !== grantExpiresIn && { expiresIn: choices.expiresIn }),
      ...(narrowed.length > 0 && {
        tools: Object.fromEntries(narrowed.map((entry) => [entry.connector, keptTools(entry)])),
      }),
      ...(limits.isTighter() && { arguments: limits.narrowing() }),
    };
  }

  /** What the person has on the screen, in the words that they read. @returns {Narrowing} */
  const narrowing = () => ({
    ...less(),
    ...(manifests.length > 0 && {
      manifests: manifests.map(({ connector, sha256 }) => ({ connector, sha256 })),
    }),
    ...(scopeWordsSha256 && { scopeWordsSha256 }),
  });

  const limits = renderLimits(request, { choices, refresh, isKept });
  followers.push(limits.follow);
  const tools = renderAllTools();
  const parts = { scopes: renderScopes(), tools, time: renderTime() };
  // Said only where the person has taken something away, because the page says the rest.
  followers.push(() => {
    const isLess = Object.keys(less()).length > 0;
    setContent(summary, missing() ?? (isLess && fill(words.decision.summary, { selection: inWords() })));
  });
  refresh();
  return { ...parts, summary, refresh, refreshEnd, inWords, missing, narrowing };
}

/** @param {string} scope */
function namesConnector(scope) {
  return !['*', undefined].includes(toolScope(scope)?.connector);
}

/** Whether an entry says more than the permissions do. @param {ToolsEntry} entry */
const hasTools = ({ tools, caps = {}, data_region: region }) =>
  tools !== undefined || region !== undefined || Object.keys(caps).length > 0;

/**
 * A tool in the words of its manifest, with what it does at most. Its exact text is among the details, and here where
 * there are no words, or two tools have the same.
 * @param {ConsentRequest} request
 * @param {string} connector
 * @param {string} tool
 * @param {Cap} [cap]
 * @returns {Child}
 */
function toolLabel(request, connector, tool, cap) {
  const { levels, prefix } = words.tools;
  const said = request.tools?.find((each) => each.connector === connector && each.tool === tool);
  const title = said?.title ?? (said && said.covers.length > 0 ? coveredText(said) : undefined);
  const notes = [said?.level && levels[said.level], tool.endsWith('*') && prefix, cap && capText(cap)].filter(
    Boolean,
  );
  return [
    title && name(title, 'words'),
    (!said?.title || isSharedBy(request, said.title)) && (!title || said?.title) && literal(tool),
    notes.length > 0 && element('span', { class: 'aside' }, notes.join(', ')),
  ];
}

/** The tools that a pattern covers now, each title in quotation marks. @param {ToolInWords} pattern */
function coveredText({ covers, more }) {
  const names = covers.map(({ title, tool }) => (title === null ? tool : `“${title}”`));
  const rest = more > 0 ? [counted(words.tools.more, more)] : [];
  return new Intl.ListFormat(language).format([...names, ...rest]);
}

/**
 * Whether several permissions or tools are shown in the same words.
 * @param {ConsentRequest} request
 * @param {string} text
 */
function isSharedBy({ scopeDescriptions, tools = [] }, text) {
  const titles = tools.flatMap(({ title, covers }) => [title, ...covers.map((each) => each.title)]);
  const plain = (/** @type {string} */ each) => each.normalize('NFKC').trim().toLowerCase();
  return (
    [...scopeDescriptions, ...titles].filter((each) => each !== null && plain(each) === plain(text)).length >
    1
  );
}

/** @param {Cap} cap */
function capText(cap) {
  const { windows, never, atMost, limit } = words.tools;
  const set = Object.entries(windows).map(([key, window]) => ({
    window,
    count: cap[/** @type {keyof Cap} */ (key)],
  }));
  const zeros = set.filter(({ count }) => count === 0);
  const parts = (zeros.length > 0 ? zeros : set).flatMap(({ window, count }) =>
    count === undefined ? [] : fillText(limit, { window, count: count.toLocaleString(language) }),
  );
  return fillText(zeros.length > 0 ? never : atMost, { limits: parts.join(', ') });
}
