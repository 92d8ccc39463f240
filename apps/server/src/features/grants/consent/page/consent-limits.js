/** @import { ArgumentLimits, Child } from '../../../../platform/page/types.js' */
/** @import { Bound, Choices, ConsentRequest, LimitsUse, Place, Rule, Rules } from './types.js' */
import { element, literal, name } from '../../../../platform/page/dom.js';
import { fill, fillText } from '../../../../platform/page/format.js';
import { limitLines, toolOf } from '../../../../platform/page/limits.js';
import { words } from './consent-words.js';

const { limits: said } = words;

/*
 * The page reads rules only to offer less. The service alone decides about calls, and refuses rules that are wider.
 */

/** From these lists a person can take items off. An item less in `contains` would allow more. */
const LISTS = /** @type {const} */ (['in', 'prefix', 'suffix', 'email', 'host', 'path', 'url', 'cidr']);
/** @type {Bound[]} */
const BOUNDS = ['min', 'max'];

/** How the service writes the names of an argument. */
const JOINER = ' › ';

const DECIMAL = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?$/;
const FRACTION = 18; // digits of a decimal at most

/**
 * The limits on what the agent may pass to tools, with the controls to tighten them.
 * @param {ConsentRequest} request
 * @param {LimitsUse} use
 */
export function renderLimits({ argumentLimits = [], authorizationDetails }, use) {
  const entries = authorizationDetails ?? [];
  const tools = argumentLimits.map((limits) => {
    const { connector, tool } = limits;
    const rules = entries.find((entry) => entry.connector === connector)?.arguments?.[tool] ?? {};
    const less = renderLess(limits, rules, use);
    const part = element(
      'div',
      { class: 'group limits' },
      element('h2', {}, toolOf(limits)),
      limitLines(limits, less.below),
      less.control,
    );
    return { ...less, connector, tool, part, isKept: () => use.isKept(connector, tool) };
  });
  const kept = () => tools.filter(({ isKept }) => isKept());

  return {
    parts: tools.map(({ part }) => part),
    follow() {
      for (const { part, isKept, follow } of tools) {
        part.hidden = !isKept();
        follow();
      }
    },
    isTighter: () => kept().some(({ isTighter }) => isTighter()),
    missing: () => kept().flatMap(({ missing }) => [missing()].filter((fault) => fault !== undefined))[0],
    /** The rules that differ from the request, by connector and tool. */
    narrowing() {
      const tighter = kept().filter(({ isTighter }) => isTighter());
      const connectors = [...new Set(tighter.map(({ connector }) => connector))];
      return Object.fromEntries(
        connectors.map((connector) => {
          const own = tighter.filter((each) => each.connector === connector);
          return [connector, Object.fromEntries(own.map(({ tool, rules }) => [tool, rules()]))];
        }),
      );
    },
  };
}

/**
 * The controls by which a person allows less than the limits of one tool: lower bounds, and fewer items of lists.
 * @param {ArgumentLimits} limits
 * @param {Rules} rules
 * @param {{ choices: Choices, refresh: () => void }} use
 */
function renderLess({ connector, tool, lines }, rules, { choices, refresh }) {
  const places = placesOf(rules);
  const areThose = lines.every(({ path }, at) => places[at]?.names.join(JOINER) === path);
  /** @type {Array<() => void>} */
  const followers = [];

  /** @type {(pointers: string[], key: string) => string} */
  const idOf = (pointers, key) => JSON.stringify([connector, tool, pointers, key]);
  /** @type {(place: Pick<Place, 'pointers' | 'rule'>, key: Bound) => string} the bound as the person wrote it */
  function boundOf({ pointers, rule }, key) {
    return choices.bounds.get(idOf(pointers, key)) ?? rule[key] ?? '';
  }
  /** @type {(pointers: string[], key: string) => Set<number>} */
  const removedOf = (pointers, key) => choices.removedItems.get(idOf(pointers, key)) ?? new Set();

  const controls = areThose && places.length === lines.length ? places.flatMap(renderPlace) : [];

  /** @param {Place} place */
  function renderPlace(place) {
    const { rule } = place;
    return [
      ...BOUNDS.filter((key) => rule[key] !== undefined).map((key) => renderBound(place, key)),
      ...LISTS.filter((key) => (rule[key]?.length ?? 0) > 1).map((key) => renderItems(place, key)),
    ];
  }

  /**
   * @param {Place} place
   * @param {Bound} key
   */
  function renderBound(place, key) {
    const { names, pointers } = place;
    const entry = element('input', {
      type: 'text',
      inputmode: 'decimal',
      autocomplete: 'off',
      maxlength: '40',
    });
    entry.value = boundOf(place, key);
    entry.addEventListener('input', () => {
      choices.bounds.set(idOf(pointers, key), entry.value.trim());
      refresh();
    });
    followers.push(() => entry.setAttribute('aria-invalid', String(faultOf(place, key) !== undefined)));
    return element('label', {}, fill(said[key], { path: name(names.join(JOINER)) }), ' ', entry);
  }

  /**
   * @param {Place} place
   * @param {(typeof LISTS)[number]} key
   */
  function renderItems({ names, pointers, rule }, key) {
    const removed = removedOf(pointers, key);
    choices.removedItems.set(idOf(pointers, key), removed);
    const items = (rule[key] ?? []).map((item, at) => {
      const control = element('input', { type: 'checkbox' });
      control.checked = !removed.has(at);
      control.addEventListener('change', () => {
        control.checked ? removed.delete(at) : removed.add(at);
        refresh();
      });
      return element('li', {}, element('label', {}, control, element('span', {}, literal(String(item)))));
    });
    const legend = element('legend', {}, fill(said.items, { path: name(names.join(JOINER)) }));
    return element('fieldset', {}, legend, element('ul', { role: 'list' }, items));
  }

  /**
   * The reason that a bound cannot stand.
   * @param {Place} place
   * @param {Bound} key
   */
  function faultOf(place, key) {
    const { rule, names } = place;
    const [min, max] = [boundOf(place, 'min'), boundOf(place, 'max')];
    const values = {
      path: name(names.join(JOINER)),
      asked: rule[key] ?? '',
      connector: literal(connector),
    };
    if (!isNarrower(rule, key, boundOf(place, key))) return fill(said.wrong[key], values);
    const areBoth = isNarrower(rule, 'min', min) && isNarrower(rule, 'max', max);
    return areBoth && isBelow(max, min) ? fill(said.wrong.crossed, values) : undefined;
  }

  /** @type {(place: Place) => Child[]} the person's own limits, where they are tighter */
  function ownLimits(place) {
    const { pointers, rule } = place;
    const bounds = BOUNDS.filter((key) => rule[key] !== undefined && boundOf(place, key) !== rule[key]);
    const own = bounds.map(
      (key) => faultOf(place, key) ?? fill(said.own[key], { value: boundOf(place, key) }),
    );
    const lists = LISTS.filter((key) => removedOf(pointers, key).size > 0).map((key) => {
      const all = rule[key]?.length ?? 0;
      return fillText(said.own.items, { kept: all - removedOf(pointers, key).size, all });
    });
    return [...own, ...lists].map((text) => element('span', {}, text));
  }

  /** @param {string[]} pointers @param {Rule} rule */
  function narrower(pointers, rule) {
    const bounds = BOUNDS.filter((key) => rule[key] !== undefined);
    const lists = LISTS.filter((key) => removedOf(pointers, key).size > 0);
    return {
      ...rule,
      ...Object.fromEntries(bounds.map((key) => [key, boundOf({ pointers, rule }, key)])),
      ...Object.fromEntries(
        lists.map((key) => [key, rule[key]?.filter((_, at) => !removedOf(pointers, key).has(at))]),
      ),
    };
  }

  return {
    /** Nothing where no limit can be tighter. */
    control:
      controls.length > 0 &&
      element('details', { class: 'less' }, element('summary', {}, said.less), element('div', {}, controls)),
    /** @param {number} at */
    below(at) {
      const place = places[at];
      const own = element('p', { role: 'status' });
      if (!place || controls.length === 0) return undefined;
      followers.push(() => {
        const news = element('p', {}, ownLimits(place));
        if (news.textContent !== own.textContent) own.replaceChildren(...news.childNodes);
      });
      return own;
    },
    follow() {
      for (const follow of followers) follow();
    },
    isTighter: () => places.some((place) => ownLimits(place).length > 0),
    missing() {
      for (const place of places) {
        for (const key of BOUNDS) {
          const fault = place.rule[key] === undefined ? undefined : faultOf(place, key);
          if (fault) return fault;
        }
        const empty = LISTS.some((key) => place.rule[key]?.length === removedOf(place.pointers, key).size);
        if (empty) return fill(said.wrong.empty, { path: name(place.names.join(JOINER)) });
      }
      return undefined;
    },
    rules: () => changed(rules, narrower),
  };
}

/**
 * The rules for which the service writes lines, in the order of the lines.
 * @param {Rules} rules
 * @param {Pick<Place, 'names' | 'pointers'>} [above]
 * @returns {Place[]}
 */
function placesOf(rules, above = { names: [], pointers: [] }) {
  return Object.entries(rules).flatMap(([pointer, rule]) => {
    const own = pointer
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const names = [...above.names, ...own];
    const pointers = [...above.pointers, pointer];
    const isBranch = Object.keys(rules).some((other) => other.startsWith(`${pointer}/`));
    const hasLine = !isBranch || rule.optional || (rule.open && names.length > 0);
    const below = { names: [...names, said.eachEntry], pointers };
    return [
      ...(hasLine ? [{ names, pointers, rule }] : []),
      ...(rule.each ? placesOf(rule.each, below) : []),
    ];
  });
}

/**
 * A copy of the rules, each of them changed.
 * @param {Rules} rules
 * @param {(pointers: string[], rule: Rule) => Rule} change
 * @param {string[]} [above]
 * @returns {Rules}
 */
function changed(rules, change, above = []) {
  const copies = Object.entries(rules).map(([pointer, rule]) => {
    const pointers = [...above, pointer];
    const each = rule.each && { each: changed(rule.each, change, pointers) };
    return [pointer, { ...change(pointers, rule), ...each }];
  });
  return Object.fromEntries(copies);
}

/**
 * Whether a bound that a person wrote can stand in place of the one in the rule.
 * @param {Rule} rule
 * @param {Bound} key
 * @param {string} text
 */
function isNarrower(rule, key, text) {
  const asked = rule[key];
  if (asked === undefined || !DECIMAL.test(text)) return false;
  return key === 'max' ? !isBelow(asked, text) : !isBelow(text, asked);
}

/**
 * Exact, because a number cannot hold every decimal.
 * @param {string} left
 * @param {string} right
 */
const isBelow = (left, right) => unitsOf(left) < unitsOf(right);

/** @param {string} decimal */
function unitsOf(decimal) {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(`${whole}${fraction.padEnd(FRACTION, '0')}`);
}
