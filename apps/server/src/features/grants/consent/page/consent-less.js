/** @import { ArgumentLimits, Child } from '../../../../platform/page/types.js' */
/** @import { Bound, Choices, Place, Rule, Rules } from './types.js' */
import { element, literal, name } from '../../../../platform/page/dom.js';
import { fill, fillText } from '../../../../platform/page/format.js';
import { BOUNDS, changed, isBelow, isNarrower, LISTS, placesOf } from './consent-rules.js';
import { words } from './consent-words.js';

const { limits: said } = words;

/**
 * The controls by which a person allows less than the limits of one tool: lower bounds, and fewer items of lists.
 * @param {ArgumentLimits} limits
 * @param {Rules} rules
 * @param {{ choices: Choices, refresh: () => void }} use
 */
export function renderLess({ connector, tool, lines }, rules, { choices, refresh }) {
  const places = placesOf(rules);
  const areThose = lines.every(({ path }, at) => places[at]?.names.join(said.joiner) === path);
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
    return element('label', {}, fill(said[key], { path: name(names.join(said.joiner)) }), ' ', entry);
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
    const legend = element('legend', {}, fill(said.items, { path: name(names.join(said.joiner)) }));
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
      path: name(names.join(said.joiner)),
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
        if (empty) return fill(said.wrong.empty, { path: name(place.names.join(said.joiner)) });
      }
      return undefined;
    },
    rules: () => changed(rules, narrower),
  };
}
