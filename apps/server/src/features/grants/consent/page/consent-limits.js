/** @import { ConsentRequest, LimitsUse } from './types.js' */
import { element } from '../../../../platform/page/dom.js';
import { limitLines, toolOf } from '../../../../platform/page/limits.js';
import { renderLess } from './consent-less.js';

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
