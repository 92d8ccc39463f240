/** The page at /docs: Swagger UI, with the parts of the API below what a visitor wants, and a search in all calls. */

/** @typedef {any} Immutable A collection of Swagger UI's own. */
/** @typedef {any} System What Swagger UI hands to its plugins. */

const isDark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', isDark.matches);
followScheme();
isDark.addEventListener('change', followScheme);

/**
 * The calls in which each word of the search occurs.
 * @param {Immutable} parts
 * @param {string} search
 */
function findCalls(parts, search) {
  const wanted = search.toLowerCase().split(' ');
  /** @type {(part: string) => (call: Immutable) => boolean} */
  const isWanted = (part) => (call) => {
    const texts = ['summary', 'description', 'operationId'].map((name) =>
      call.getIn(['operation', name], ''),
    );
    const text = [part, call.get('method'), call.get('path'), ...texts].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return parts
    .map((/** @type {Immutable} */ part, /** @type {string} */ name) =>
      part.update('operations', (/** @type {Immutable} */ calls) => calls.filter(isWanted(name))),
    )
    .filter((/** @type {Immutable} */ part) => part.get('operations').size > 0);
}

/** @param {System} system */
const searchOf = ({ layoutSelectors }) => {
  const search = layoutSelectors.currentFilter();
  return typeof search === 'string' ? search : ''; // `true` until the first letter
};

/** @type {{ search: string, first: Set<string> } | undefined} */
let found;

/**
 * The first part of each group, as the search leaves them. Kept, since each part asks, and all calls are gone through.
 * @param {System} system
 */
function firstParts(system) {
  const search = searchOf(system);
  if (found?.search === search) return found.first;
  /** @type {string[]} */
  const shown = system.specSelectors.taggedOperations().keySeq().toArray();
  const groups = system.specSelectors.specJson().get('x-tagGroups');
  const first = groups.map((/** @type {Immutable} */ group) =>
    shown.find((part) => group.get('tags').includes(part)),
  );
  found = { search, first: new Set(first) };
  return found.first;
}

/** @param {string} part */
const partKey = (part) => ['operations-tag', part];

/**
 * Draws the heading of a group before its first part, and its parts while it is open. A part that an address names opens
 * its group.
 * @param {System} Original
 * @param {System} system
 */
const groupedPart = (Original, system) => (/** @type {{ tag: string }} */ props) => {
  const { React, specSelectors, layoutSelectors, layoutActions } = system.getSystem();
  const group = specSelectors
    .specJson()
    .get('x-tagGroups')
    .find((/** @type {Immutable} */ each) => each.get('tags').includes(props.tag));
  /** @type {string[]} */
  const parts = group.get('tags').toArray();
  const key = ['group', group.get('name')];
  const isOpen =
    searchOf(system.getSystem()) !== '' ||
    layoutSelectors.isShown(
      key,
      parts.some((part) => layoutSelectors.isShown(partKey(part), false)),
    );
  const toggle = () => {
    layoutActions.show(key, !isOpen);
    if (isOpen) for (const part of parts) layoutActions.show(partKey(part), false);
  };
  const heading = () =>
    React.createElement(
      'h2',
      { className: 'group' },
      React.createElement(
        'button',
        { type: 'button', 'aria-expanded': isOpen, onClick: toggle },
        group.get('name'),
      ),
    );
  return React.createElement(
    React.Fragment,
    null,
    firstParts(system.getSystem()).has(props.tag) && heading(),
    isOpen && React.createElement(Original, props),
  );
};

/**
 * A part of Swagger UI within an element that screen readers need.
 * @param {string} tag
 * @param {object} attributes
 * @param {object} [before]
 */
const within =
  (tag, attributes, before) =>
  (/** @type {System} */ Original, /** @type {System} */ system) =>
  (/** @type {object} */ props) =>
    system.React.createElement(tag, attributes, before, system.React.createElement(Original, props));

/** @param {System} system */
const plugin = (system) => ({
  fn: { opsFilter: findCalls },
  components: {
    OpenAPIVersion: () => null, // it would be that of `readAsEarlier`
    ServersContainer: () => null, // there is one
    // Their place is in the address anyway, and a link within a button cannot be reached.
    DeepLink: (/** @type {{ text: string }} */ { text }) => system.React.createElement('span', null, text),
    FilterContainer: () =>
      system.React.createElement(
        'search',
        null,
        system.React.createElement('input', {
          className: 'search',
          type: 'search',
          placeholder: 'Search all calls',
          'aria-label': 'Search all calls',
          value: searchOf(system.getSystem()),
          onChange: (/** @type {{ target: HTMLInputElement }} */ { target }) =>
            system.getSystem().layoutActions.updateFilter(target.value),
        }),
      ),
  },
  wrapComponents: {
    OperationTag: groupedPart,
    InfoContainer: within('div', { role: 'banner' }),
    AuthorizeBtnContainer: within('div', { role: 'region', 'aria-label': 'Credential' }),
    ExamplesSelect: within(
      'label',
      {},
      system.React.createElement('span', { className: 'unseen' }, 'Example'),
    ),
  },
  statePlugins: {
    layout: {
      wrapSelectors: {
        // A search shows what it finds.
        isShown:
          (/** @type {System} */ original) =>
          (
            /** @type {Immutable} */ state,
            /** @type {string | string[]} */ key,
            /** @type {boolean} */ other,
          ) => {
            const isSearched = state.get('filter') !== true && Boolean(state.get('filter'));
            return (isSearched && key[0] === 'operations-tag') || original(key, other);
          },
      },
    },
  },
});

/**
 * Swagger UI goes through the whole of a 3.1 description again for each call that is opened, for seconds. Read as 3.0, only
 * that call is. All of this description that 3.0 does not know is the type `null`, which is shown all the same.
 * @param {{ url: string, text?: string | undefined }} answer
 */
function readAsEarlier(answer) {
  if (answer.url.endsWith('/openapi.json'))
    answer.text = answer.text?.replace('"openapi":"3.1.0"', '"openapi":"3.0.4"');
  return answer;
}

/** @type {any} */ (globalThis).SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1, // each call shows its own shapes
  filter: true,
  responseInterceptor: readAsEarlier,
  plugins: [plugin],
});
