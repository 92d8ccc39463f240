/** @import { ConsentRequest, LimitsUse, Manifest } from './types.js' */
import { aside, element, literal, mention } from '../../../../platform/page/dom.js';
import { fill } from '../../../../platform/page/format.js';
import { limitLines, toolOf } from '../../../../platform/page/limits.js';
import { renderLess } from './consent-less.js';
import { words } from './consent-words.js';

/** Enough to compare with what the developer publishes, and short enough to read out. */
const SHOWN_DIGITS = 16;

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
      element('h3', {}, toolOf(limits)),
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
 * The descriptions of tools under which the person agrees.
 * @param {ConsentRequest} request
 */
export function renderManifests({ manifests = [], developerName }) {
  return manifests.map((manifest) => renderManifest(manifest, developerName));
}

/**
 * @param {Manifest} manifest
 * @param {string} developerName
 */
function renderManifest({ connector, version, sha256, pinned }, developerName) {
  const { manifest, noManifest } = words.tools;
  if (version === null || sha256 === null) {
    return aside(fill(noManifest, { developer: mention(developerName), connector: literal(connector) }));
  }
  const values = {
    connector: literal(connector),
    version: literal(version),
    sha256: literal(sha256.slice(0, SHOWN_DIGITS)),
  };
  return aside(fill(manifest, values), pinned && ` ${words.tools.pinned}`);
}
